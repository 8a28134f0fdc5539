//! What an executable says on fd 3.

use parking_lot::Mutex;
use riverrun_protocol::{Frame, Lines, LogLevel, Reply, RpcError, WorkError};
use riverrun_runtime::Host;
use riverrun_types::Json;
use serde::Deserialize;
use tokio::{io::AsyncReadExt, net::unix::pipe};

/// The last word of an executable.
pub(super) type Word = Result<Reply, WorkError>;

/// A line on fd 3. Ids do not matter: there is one job.
#[derive(Deserialize)]
struct Line {
    method: Option<String>,
    params: Option<Json>,
    result: Option<Reply>,
    error: Option<Json>,
}

/// Reads to the end and notes the last word as it comes; what cannot be read is the error.
pub(super) async fn read(
    mut messages: pipe::Receiver,
    host: &dyn Host,
    line_bytes: usize,
    word: &Mutex<Option<Word>>,
) -> Result<(), String> {
    let mut lines = Lines::new(line_bytes);
    let mut bytes = vec![0; 32 << 10];
    loop {
        let count = match messages.read(&mut bytes).await {
            Ok(0) | Err(_) => break,
            Ok(count) => count,
        };
        lines.push(&bytes[..count]);
        while let Some(line) = lines.next_line() {
            hear(line.map_err(|error| error.to_string())?, host, word)?;
        }
    }
    // The last line may lack its end.
    lines.push(b"\n");
    while let Some(line) = lines.next_line() {
        hear(line.map_err(|error| error.to_string())?, host, word)?;
    }
    Ok(())
}

fn hear(line: &[u8], host: &dyn Host, word: &Mutex<Option<Word>>) -> Result<(), String> {
    let unreadable = |error| {
        let text: String = String::from_utf8_lossy(line).chars().take(100).collect();
        format!("{text:?} is no message: {error}")
    };
    let line: Line = serde_json::from_slice(line).map_err(unreadable)?;
    match (line.method, line.result, line.error) {
        (Some(method), _, _) => {
            let params = line
                .params
                .unwrap_or_else(|| Json::of(&serde_json::json!({})));
            if let Some((_, frame)) = Frame::read(&method, &params) {
                host.frame(frame);
            }
        }
        (None, _, Some(error)) => note(word, Err(read_error(&error)), host),
        (None, Some(reply), None) => note(word, Ok(reply), host),
        (None, None, None) => return Err("a message says nothing".to_owned()),
    }
    Ok(())
}

/// The last word counts; that there was one before is hardly meant.
fn note(word: &Mutex<Option<Word>>, said: Word, host: &dyn Host) {
    if word.lock().replace(said).is_some() {
        host.frame(Frame::Log {
            level: LogLevel::Warn,
            message: "it has said more than one result or error on fd 3; the last one counts"
                .to_owned(),
            meta: None,
        });
    }
}

/// As the protocol has it, or simply `{"code":"CARD","message":"…"}`.
fn read_error(error: &Json) -> WorkError {
    if let Ok(rpc) = error.read::<RpcError>() {
        return rpc.into();
    }
    let said: Result<WorkError, _> = error.read();
    said.unwrap_or_else(|_| WorkError::new("", error.as_text()))
        .of_handler()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_may_be_said_in_simple_words() {
        for (said, code, message) in [
            (
                json!({"code": -32000, "message": "m", "data": {"code": "X"}}),
                "X",
                "m",
            ),
            (json!({"code": "CARD", "message": "m"}), "CARD", "m"),
            (json!({"message": "m"}), "HANDLER_ERROR", "m"),
            (json!("declined"), "HANDLER_ERROR", "declined"),
        ] {
            let error = read_error(&Json::of(&said));
            assert_eq!(
                (error.code.as_str(), error.message.as_str()),
                (code, message)
            );
        }
    }
}
