//! One connection to the server: texts in, texts out, until it ends.

use std::{sync::Arc, time::Duration};

use futures::{Sink, SinkExt, Stream, StreamExt};
use riverrun_protocol::{
    Cancel, CancelReason, Drain, Drained, Initialise, Initialised, Lines, LoadedProcess,
    MESSAGE_BYTES, Message, PROTOCOL, RpcError, Running, Sdk, Welcome, WorkError, WorkerInfo, code,
};
use riverrun_types::{ErrorCode, Json};
use tokio_util::sync::CancellationToken;

use super::{Inner, Worker};
use crate::{failure, link::texts};

/// How often the worker reports that silent work is alive.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Why a connection is over.
#[derive(Debug)]
pub enum Over {
    /// It broke, or the server stops: connect again.
    Broken,
    /// The server has let the worker go.
    Drained,
    /// The server does not want this worker, or cannot be talked to.
    Refused(WorkError),
}

impl Worker {
    /// Runs the protocol over one connection until the connection ends. A text has one or more
    /// messages. Calls `on_welcome` with the server's answer when the server has accepted the worker.
    pub async fn converse<T: AsRef<[u8]>>(
        &self,
        mut incoming: impl Stream<Item = T> + Unpin,
        mut outgoing: impl Sink<String> + Unpin,
        on_welcome: impl FnOnce(&Welcome),
    ) -> Over {
        let inner = &self.inner;
        let mut lines = Lines::new(MESSAGE_BYTES);
        match hello(inner, &mut incoming, &mut outgoing, &mut lines).await {
            Ok(welcome) => on_welcome(&welcome),
            Err(over) => return over,
        }
        inner.say_again().await;
        let drained = CancellationToken::new();
        let over = tokio::select! {
            over = receive(inner, &mut incoming, lines, &drained) => over,
            () = say(inner, &mut outgoing) => Over::Broken,
            () = beat(inner) => Over::Broken,
            () = leave(inner) => Over::Broken,
        };
        match over {
            Over::Broken if drained.is_cancelled() => Over::Drained,
            over => over,
        }
    }
}

/// Answers the server's `initialise` and waits for its decision.
async fn hello<T: AsRef<[u8]>>(
    inner: &Inner,
    incoming: &mut (impl Stream<Item = T> + Unpin),
    outgoing: &mut (impl Sink<String> + Unpin),
    lines: &mut Lines,
) -> Result<Welcome, Over> {
    let bad = |what: String| Over::Refused(failure::protocol("the server", what));
    let line = next_line(incoming, lines).await?;
    let (id, params) = match Message::read(&line).map_err(|error| bad(error.to_string()))? {
        Message::Request { id, method, params } if method == "initialise" => (id, params),
        Message::Notification { method, params } if method == "refused" => {
            return Err(refused(&params));
        }
        _ => return Err(bad("it did not begin with initialise".to_owned())),
    };
    let initialise: Initialise = params.read().map_err(|error| bad(error.to_string()))?;
    let outcome = match initialise.protocol {
        PROTOCOL => Ok(Json::of(&inner.introduction())),
        other => {
            let message = format!(
                "the server uses version {other} of the protocol, and this worker version {PROTOCOL}"
            );
            Err(WorkError::new(ErrorCode::ProtocolVersion, message))
        }
    };
    let mut bytes = Vec::new();
    let answer = outcome.clone().map_err(RpcError::from);
    Message::response(id, answer).write(&mut bytes);
    let text = String::from_utf8(bytes).unwrap_or_default();
    outgoing.send(text).await.map_err(|_| Over::Broken)?;
    if let Err(error) = outcome {
        return Err(Over::Refused(error));
    }
    inner.state.lock().reconnect = initialise.reconnect_ms.map(Duration::from_millis);
    let line = next_line(incoming, lines).await?;
    match Message::read(&line).map_err(|error| bad(error.to_string()))? {
        Message::Notification { method, params } if method == "welcome" => {
            params.read().map_err(|error| bad(error.to_string()))
        }
        Message::Notification { method, params } if method == "refused" => Err(refused(&params)),
        _ => Err(bad("it sent neither welcome nor refused".to_owned())),
    }
}

async fn next_line<T: AsRef<[u8]>>(
    incoming: &mut (impl Stream<Item = T> + Unpin),
    lines: &mut Lines,
) -> Result<Vec<u8>, Over> {
    loop {
        if let Some(line) = lines.next_line() {
            let line = line.map(<[u8]>::to_vec);
            return line.map_err(|error| Over::Refused(failure::protocol("the server", error)));
        }
        let text = incoming.next().await.ok_or(Over::Broken)?;
        lines.push(text.as_ref());
        lines.push(b"\n");
    }
}

fn refused(params: &Json) -> Over {
    let error: WorkError = params.read().unwrap_or_default();
    match error.code.known() {
        Some(ErrorCode::ShuttingDown) => Over::Broken,
        _ => Over::Refused(error),
    }
}

impl Inner {
    /// Who this is, what it still runs, and what has ended without an acknowledgement.
    fn introduction(&self) -> Initialised {
        let mut processes: Vec<LoadedProcess> = self
            .processes
            .iter()
            .map(|(id, process)| LoadedProcess {
                id: Some(id.clone()),
                export: None,
                config: process.config.raw.clone(),
            })
            .collect();
        processes.sort_by(|a, b| a.id.cmp(&b.id));
        let state = self.state.lock();
        let answered = state.answers.iter().map(|answered| &answered.running);
        let under_way = state.running.values().map(|begun| &begun.running);
        let running: Vec<Running> = under_way.chain(answered).cloned().collect();
        let broken = &self.options.broken;
        Initialised {
            protocol: PROTOCOL,
            sdk: Sdk {
                name: "riverrun".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                language: "rust".to_owned(),
            },
            runtime: None,
            pid: Some(std::process::id()),
            worker: Some(WorkerInfo {
                name: self.options.name.clone(),
                instance: Some(self.instance.clone()),
                tags: self.options.tags.clone(),
            }),
            processes,
            broken: broken.iter().map(|file| file.why.clone()).collect(),
            broken_files: broken.clone(),
            credits: Some(self.options.concurrency),
            running,
        }
    }

    /// Queues the messages again that may have been lost with the last connection. Requests come
    /// first, so that they arrive before the result of the invocation that made them.
    async fn say_again(&self) {
        let mut messages = self.questions.open();
        let answers = {
            let state = self.state.lock();
            let messages = state
                .answers
                .iter()
                .map(|answered| answered.message.clone());
            messages.collect::<Vec<_>>()
        };
        messages.extend(answers);
        for message in messages {
            // Beyond the limits: each was within them when it was sent first.
            self.out.put(|bytes| message.write(bytes));
        }
    }
}

async fn receive<T: AsRef<[u8]>>(
    inner: &Arc<Inner>,
    incoming: &mut (impl Stream<Item = T> + Unpin),
    mut lines: Lines,
    drained: &CancellationToken,
) -> Over {
    loop {
        let line = match next_line(incoming, &mut lines).await {
            Ok(line) => line,
            Err(over) => return over,
        };
        match Message::read(&line) {
            Err(error) => return Over::Refused(failure::protocol("the server", error)),
            Ok(Message::Response { id, outcome }) => inner.questions.answered(id, outcome),
            Ok(Message::Notification { method, params }) => match method.as_str() {
                "cancel" => cancel(inner, &params),
                "refused" => return refused(&params),
                _ => {}
            },
            Ok(Message::Request { id, method, params }) => match method.as_str() {
                "invoke" => inner.begin(id, &params),
                "drain" => drain(inner, id, &params, drained),
                _ => {
                    let error = RpcError {
                        code: code::UNKNOWN_METHOD,
                        message: format!("there is no {method:?}"),
                        data: None,
                    };
                    inner.post(&Message::response(id, Err(error)));
                }
            },
        }
    }
}

fn cancel(inner: &Inner, params: &Json) {
    let Ok(Cancel { invocation, reason }) = params.read::<Cancel>() else {
        return;
    };
    // One that has ended needs none.
    if let Some(begun) = inner.state.lock().running.get(&invocation) {
        begun.cancel.cancel(reason);
    }
}

/// The server sends no more work: running work gets its grace, then the worker reports that it has
/// drained.
fn drain(inner: &Arc<Inner>, id: u64, params: &Json, drained: &CancellationToken) {
    let grace = params.read::<Drain>().map_or(0, |drain| drain.grace_ms);
    let (inner, drained) = (inner.clone(), drained.clone());
    drained.cancel();
    tokio::spawn(async move {
        let idle = inner.idle();
        let _ = tokio::time::timeout(Duration::from_millis(grace), idle).await;
        let unfinished = {
            let state = inner.state.lock();
            for begun in state.running.values() {
                begun.cancel.cancel(CancelReason::Shutdown);
            }
            u32::try_from(state.running.len()).unwrap_or(u32::MAX)
        };
        let answer = Json::of(&Drained { unfinished });
        inner.post(&Message::response(id, Ok(answer)));
    });
}

/// Returns when nothing can be sent any more.
async fn say(inner: &Inner, outgoing: &mut (impl Sink<String> + Unpin)) {
    let mut bytes = Vec::new();
    while inner.out.take(&mut bytes).await {
        for text in texts(&bytes, MESSAGE_BYTES) {
            if outgoing.send(text.to_owned()).await.is_err() {
                return;
            }
        }
        bytes.clear();
    }
}

async fn beat(inner: &Inner) {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        if !inner.state.lock().running.is_empty() {
            inner.post(&Message::notification("heartbeat", &serde_json::json!({})));
        }
    }
}

async fn leave(inner: &Inner) {
    inner.leaving.cancelled().await;
    inner.post(&Message::notification("leave", &serde_json::json!({})));
    std::future::pending().await
}
