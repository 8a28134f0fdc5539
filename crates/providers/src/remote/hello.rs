//! The handshake of a connection.

use futures::{Sink, SinkExt, Stream, StreamExt};
use riverrun_protocol::{Initialise, Initialised, Lines, Message, Server, WorkError};
use riverrun_types::ErrorCode;

use super::WorkersOptions;
use crate::failure;

/// Far from the ids of invocations, which a worker that comes back may still have open; as large
/// as an integer gets in every language.
const ID: u64 = (1 << 53) - 1;

/// Asks who is there. What comes behind the answer stays in `lines`.
pub(super) async fn hello<T: AsRef<[u8]>>(
    incoming: &mut (impl Stream<Item = Result<T, WorkError>> + Unpin),
    outgoing: &mut (impl Sink<String> + Unpin),
    lines: &mut Lines,
    options: &WorkersOptions,
) -> Result<Initialised, WorkError> {
    let initialise = Initialise {
        protocol: riverrun_protocol::PROTOCOL,
        server: Server {
            name: "riverrun".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        limits: options.limits,
        project: None,
        reconnect_ms: u64::try_from(options.reconnect.as_millis()).ok(),
    };
    let mut bytes = Vec::new();
    Message::request(ID, "initialise", &initialise).write(&mut bytes);
    let gone = || {
        WorkError::new(
            ErrorCode::WorkerLost,
            "the worker went before it had said who it is",
        )
    };
    let text = String::from_utf8(bytes).unwrap_or_default();
    outgoing.send(text).await.map_err(|_| gone())?;
    loop {
        if let Some(line) = lines.next_line() {
            let line = line.map_err(|error| failure::protocol("the worker", error))?;
            return read(line);
        }
        let text = incoming.next().await.ok_or_else(gone)??;
        push(lines, text.as_ref());
    }
}

/// The end of a text ends its last line too.
pub(super) fn push(lines: &mut Lines, text: &[u8]) {
    lines.push(text);
    lines.push(b"\n");
}

fn read(line: &[u8]) -> Result<Initialised, WorkError> {
    let bad = |what: String| failure::protocol("the worker", what);
    let message = Message::read(line).map_err(|error| bad(error.to_string()))?;
    let outcome = match message {
        Message::Response { id: ID, outcome } => outcome?,
        _ => return Err(bad("it did not answer initialise".to_owned())),
    };
    let said: Initialised = outcome.read().map_err(|error| bad(error.to_string()))?;
    if said.protocol != riverrun_protocol::PROTOCOL {
        let message = format!("the worker speaks protocol {}", said.protocol);
        return Err(WorkError::new(ErrorCode::ProtocolVersion, message));
    }
    Ok(said)
}
