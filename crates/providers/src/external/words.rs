//! Reads the messages of an executable on fd 3.

use std::{collections::HashMap, time::Duration};

use parking_lot::Mutex;
use riverrun_contract::{Cancellation, Host, Invocation};
use riverrun_protocol::{Frame, Lines, LogLevel, Reply, RpcError, WorkError};
use riverrun_types::Json;
use serde::Deserialize;
use tokio::{io::AsyncReadExt, net::unix::pipe};
use tokio_util::sync::CancellationToken;

use crate::failure;

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

/// How long, and how much, is still read after an executable has ended: the rest in the pipe, which
/// a process that the executable started may keep open.
const LEFT: Duration = Duration::from_millis(500);
const LEFT_BYTES: usize = 1 << 20;

/// Reads the messages of one executable.
pub(super) struct MessageReader<'a> {
    host: &'a dyn Host,
    cancel: &'a Cancellation,
    word: &'a Mutex<Option<Word>>,
    /// How often each type of event was emitted by earlier attempts, and not yet by this one.
    emitted: HashMap<&'a str, usize>,
}

impl<'a> MessageReader<'a> {
    pub fn new(invocation: &'a Invocation, word: &'a Mutex<Option<Word>>) -> Self {
        let mut emitted = HashMap::new();
        for entry in &invocation.invoke.job.journal {
            if entry.op == "emit" {
                *emitted.entry(entry.name.as_str()).or_default() += 1;
            }
        }
        Self {
            host: &*invocation.host,
            cancel: &invocation.cancel,
            word,
            emitted,
        }
    }

    /// Reads to the end and stores the result or error that the executable sends last. An invalid
    /// message, or a rejected request, is the error. `ended` is true when the executable has ended.
    pub async fn listen(
        mut self,
        mut messages: pipe::Receiver,
        line_bytes: usize,
        ended: &CancellationToken,
    ) -> Result<(), WorkError> {
        let mut lines = Lines::new(line_bytes);
        let mut bytes = vec![0; 32 << 10];
        let mut left = LEFT_BYTES;
        while left > 0 {
            let silence = async {
                ended.cancelled().await;
                tokio::time::sleep(LEFT).await;
            };
            let count = tokio::select! {
                biased;
                read = messages.read(&mut bytes) => read.unwrap_or(0),
                () = silence => 0,
            };
            if count == 0 {
                break;
            }
            if ended.is_cancelled() {
                left = left.saturating_sub(count);
            }
            lines.push(&bytes[..count]);
            self.read_all(&mut lines).await?;
        }
        // The last line may lack its end.
        lines.push(b"\n");
        self.read_all(&mut lines).await
    }

    async fn read_all(&mut self, lines: &mut Lines) -> Result<(), WorkError> {
        while let Some(line) = lines.next_line() {
            let line = line.map_err(|error| unreadable(error.to_string()))?;
            let line = serde_json::from_slice(line).map_err(|error| {
                let text: String = String::from_utf8_lossy(line).chars().take(100).collect();
                unreadable(format!("{text:?} is no message: {error}"))
            })?;
            self.read_line(line).await?;
        }
        Ok(())
    }

    async fn read_line(&mut self, line: Line) -> Result<(), WorkError> {
        match (line.method, line.result, line.error) {
            (Some(method), _, _) => {
                let params = line.params;
                let params = params.unwrap_or_else(|| Json::of(&serde_json::json!({})));
                self.notification(&method, params).await?;
            }
            (None, _, Some(error)) => self.note(Err(read_error(&error))),
            (None, Some(reply), None) => self.note(Ok(reply)),
            (None, None, None) => return Err(unreadable("a message says nothing".to_owned())),
        }
        Ok(())
    }

    /// The last word counts; that there was one before is hardly meant.
    fn note(&self, said: Word) {
        if self.word.lock().replace(said).is_some() {
            self.host.frame(Frame::Log {
                level: LogLevel::Warn,
                message: "it has said more than one result or error on fd 3; the last one counts"
                    .to_owned(),
                meta: None,
            });
        }
    }

    async fn notification(&mut self, method: &str, params: Json) -> Result<(), WorkError> {
        if method == "emit" {
            return self.emit(params).await;
        }
        let frame = Frame::read(method, &params).map(|(_, frame)| frame);
        self.host.frame(frame.unwrap_or_else(|| {
            let method: String = method.chars().take(100).collect();
            Frame::Log {
                level: LogLevel::Warn,
                message: format!(
                    "a line on fd 3 was passed over: an executable has no method {method:?}, but log, progress, partial, heartbeat and emit"
                ),
                meta: None,
            }
        }));
        Ok(())
    }

    /// As in every language, what an earlier attempt of a step has emitted is not emitted again.
    async fn emit(&mut self, params: Json) -> Result<(), WorkError> {
        let kind = params.get("type").map(|kind| kind.as_text().into_owned());
        let before = kind.and_then(|kind| self.emitted.get_mut(kind.as_str()));
        if let Some(before) = before.filter(|before| **before > 0) {
            *before -= 1;
            return Ok(());
        }
        tokio::select! {
            answer = self.host.ask("emit", params) => answer.map(drop),
            // The attempt was cancelled: the answer is no longer needed.
            _ = self.cancel.cancelled() => Ok(()),
        }
    }
}

fn unreadable(what: String) -> WorkError {
    failure::protocol("the executable", what)
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
