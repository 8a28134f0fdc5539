//! One invocation in a child, to whatever end.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_protocol::{CancelReason, Invoke, Message, Reply, WorkError};
use riverrun_runtime::{Invocation, Provider};
use riverrun_types::Json;
use serde::Serialize;

use super::{RunnerOptions, child::Child, pool::Pool};
use crate::{
    failure,
    link::{Answer, Opened, Refused},
    process::timer,
};

/// Runs the invocations of one process in the pool of its language.
pub(super) struct RunnerProvider {
    pub pool: Arc<Pool>,
    pub file: String,
    pub export: Option<String>,
    pub revision: u64,
}

/// An invocation as it is sent: the runtime's, with where its handler is.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(flatten)]
    invoke: &'a Invoke,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    export: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
}

#[async_trait]
impl Provider for RunnerProvider {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let mut reloads = 0;
        loop {
            let child = self.pool.pick(&invocation.cancel).await?;
            let opened = match child.link.open(Some(invocation.host.clone())) {
                Ok(opened) => opened,
                // It went just now, and nothing of this ran in it.
                Err(_) => {
                    child.retire();
                    continue;
                }
            };
            let running = Run::new(&self.pool, &child, opened, &invocation);
            match running.run(self.params(&invocation.invoke)).await {
                Err(error) if error.code == "RELOAD" && reloads <= self.pool.size() => {
                    reloads += 1;
                    child.retire();
                }
                ended => return ended,
            }
        }
    }
}

impl RunnerProvider {
    fn params<'a>(&'a self, invoke: &'a Invoke) -> Params<'a> {
        Params {
            invoke,
            file: invoke.file.is_none().then_some(&self.file),
            export: self.export.as_deref().filter(|_| invoke.export.is_none()),
            revision: invoke.revision.is_none().then_some(self.revision),
        }
    }
}

/// An invocation that was given to a child. If it is dropped before its end, it is stopped.
struct Run<'a> {
    options: &'a Arc<RunnerOptions>,
    child: &'a Arc<Child>,
    opened: Option<Opened>,
    invocation: &'a Invocation,
}

impl<'a> Run<'a> {
    fn new(
        pool: &'a Pool,
        child: &'a Arc<Child>,
        opened: Opened,
        invocation: &'a Invocation,
    ) -> Self {
        Self {
            options: &pool.options,
            child,
            opened: Some(opened),
            invocation,
        }
    }

    async fn run(mut self, params: Params<'_>) -> Result<Reply, WorkError> {
        let timeout_ms = self.invocation.invoke.timeout_ms;
        let Some(opened) = &mut self.opened else {
            return Err(failure::cancelled(CancelReason::Shutdown));
        };
        let out = &self.child.link.out;
        let id = opened.id;
        let answered = async {
            let write = |bytes: &mut Vec<u8>| Message::write_request(bytes, id, "invoke", &params);
            match out.send(write).await {
                Ok(()) | Err(Refused::Closed) => opened.answer().await,
                Err(Refused::TooLong { bytes, limit }) => {
                    Err(failure::input_too_large(bytes, limit))
                }
            }
        };
        let reason = tokio::select! {
            biased;
            answer = answered => {
                self.opened = None;
                return settle(answer, self.child.link.limits.result_bytes);
            }
            reason = self.invocation.cancel.cancelled() => reason,
            () = timer(timeout_ms) => CancelReason::Timeout,
        };
        let Some(opened) = self.opened.take() else {
            return Err(failure::cancelled(reason));
        };
        // It goes on in a task of its own, so that it is done even if nobody waits for this.
        let stopped = stop(self.child.clone(), opened, reason, self.options.clone());
        let answer = tokio::spawn(stopped).await.unwrap_or(None);
        match answer {
            Some(Err(error)) if error.is_cancelled() && reason == CancelReason::Timeout => {
                Err(failure::timeout(timeout_ms.unwrap_or_default()))
            }
            Some(answer) => settle(answer, self.child.link.limits.result_bytes),
            None => {
                let grace_ms = self.options.cancel_grace.as_millis();
                let grace_ms = u64::try_from(grace_ms).unwrap_or(u64::MAX);
                Err(failure::stopped(reason, timeout_ms, grace_ms))
            }
        }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        let Some(opened) = self.opened.take() else {
            return;
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (child, options) = (self.child.clone(), self.options.clone());
            runtime.spawn(stop(child, opened, CancelReason::ClientGone, options));
        }
    }
}

/// Tells the handler to stop; `None` if it did not obey and was given up on.
async fn stop(
    child: Arc<Child>,
    mut opened: Opened,
    reason: CancelReason,
    options: Arc<RunnerOptions>,
) -> Option<Answer> {
    child.link.cancel(opened.id, reason);
    if let Ok(answer) = tokio::time::timeout(options.cancel_grace, opened.answer()).await {
        return Some(answer);
    }
    give_up(&child, opened, &options).await;
    None
}

/// A handler that does not obey keeps its child from ever being idle, so the child gets no more
/// work and ends. Where others run in it and it is alive they may end in peace, and what the
/// handler still asks for is refused; else the child is ended now.
async fn give_up(child: &Child, opened: Opened, options: &RunnerOptions) {
    child.retire();
    let hung = || {
        let message = format!(
            "{} was ended because a handler in it did not stop when it was told to",
            child.link.name
        );
        WorkError::new("RUNNER_HUNG", message)
    };
    let others = child.link.running().saturating_sub(1);
    if others > 0 && is_alive(child, options).await {
        tracing::warn!(
            runner = child.link.name,
            others,
            "a handler ignores that it was cancelled"
        );
        return drop(opened);
    }
    child.condemn(hung());
    child.gone.cancelled().await;
}

/// Every runner answers what it does not know, if only with an error.
async fn is_alive(child: &Child, options: &RunnerOptions) -> bool {
    let params = serde_json::json!({});
    let asked = child.link.request("ping", &params);
    let answered = tokio::time::timeout(options.probe, asked).await;
    answered.is_ok() && !child.gone.is_cancelled()
}

fn settle(answer: Answer, result_bytes: usize) -> Result<Reply, WorkError> {
    let json = answer?;
    let reply: Reply = json.read().map_err(|error| {
        let message = format!("the result is not one: {error}");
        WorkError::new("PROTOCOL_ERROR", message)
    })?;
    if let Some(value) = reply
        .value
        .as_ref()
        .filter(|value| value.bytes() > result_bytes)
    {
        return Err(failure::result_too_large(value.bytes(), result_bytes));
    }
    if reply.value.is_none() && reply.results.is_none() && is_suspended(&json) {
        let message = "this server cannot suspend an invocation yet";
        return Err(WorkError::new("SUSPEND_UNSUPPORTED", message).permanent());
    }
    Ok(reply)
}

fn is_suspended(json: &Json) -> bool {
    json.get("suspended").is_some()
}
