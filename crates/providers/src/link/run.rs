//! Runs one invocation over a link, until it ends, is cancelled or is lost.

use riverrun_types::ErrorCode;
use std::time::Duration;

use riverrun_contract::Invocation;
use riverrun_protocol::{CancelReason, Reply, WorkError};
use serde::Serialize;

use super::{Answer, Opened, Refused};
use crate::{failure, process::timer};

/// What happens to a handler that does not stop when it is asked to.
pub(crate) trait Stubborn: Clone + Send + 'static {
    /// How long it may take to stop.
    fn grace(&self) -> Duration;

    /// Stops waiting for the handler. Returns when its attempt counts as ended, with an error if the
    /// program that runs the handler was lost, so that the attempt is not the handler's failure.
    fn give_up(self, opened: Opened) -> impl Future<Output = Option<WorkError>> + Send;
}

/// How an invocation ended that was asked to stop.
enum Stopped {
    Answered(Answer),
    /// The program that runs the handler did not answer either.
    Lost(WorkError),
    /// The handler was given up on.
    Forced,
}

/// An invocation that was given away. If it is dropped before its end, it is stopped.
pub(crate) struct Run<'a, S: Stubborn> {
    opened: Option<Opened>,
    invocation: &'a Invocation,
    stubborn: S,
}

impl<'a, S: Stubborn> Run<'a, S> {
    pub fn new(opened: Opened, invocation: &'a Invocation, stubborn: S) -> Self {
        Self {
            opened: Some(opened),
            invocation,
            stubborn,
        }
    }

    /// Sends `params` and waits for the end.
    pub async fn run(mut self, params: impl Serialize) -> Result<Reply, WorkError> {
        let timeout_ms = self.invocation.invoke.timeout_ms;
        let Some(opened) = &mut self.opened else {
            return Err(failure::cancelled(CancelReason::Shutdown));
        };
        let (id, link) = (opened.id, opened.link.clone());
        let answered = async {
            match link.send_invoke(id, &params).await {
                Ok(()) | Err(Refused::Closed) => opened.answer().await,
                Err(Refused::TooLong { bytes, limit }) => {
                    let invoke = &self.invocation.invoke;
                    Err(failure::invocation_too_large(invoke, bytes, limit))
                }
            }
        };
        let reason = tokio::select! {
            biased;
            answer = answered => {
                self.opened = None;
                return settle(answer, link.limits.result_bytes);
            }
            reason = self.invocation.cancel.cancelled() => reason,
            () = timer(timeout_ms) => CancelReason::Timeout,
        };
        let Some(opened) = self.opened.take() else {
            return Err(failure::cancelled(reason));
        };
        // In a task of its own, so that it completes even if this future is dropped.
        let stopped = tokio::spawn(stop(opened, reason, self.stubborn.clone())).await;
        match stopped.unwrap_or(Stopped::Forced) {
            // The handler was not slow: the program that ran it was lost.
            Stopped::Lost(error) | Stopped::Answered(Err(error))
                if reason == CancelReason::Timeout && failure::is_loss(&error) =>
            {
                Err(error)
            }
            // What was too slow has failed, whatever it still brings.
            Stopped::Answered(_) if reason == CancelReason::Timeout => {
                Err(failure::timeout(timeout_ms.unwrap_or_default()))
            }
            Stopped::Answered(answer) => settle(answer, link.limits.result_bytes),
            Stopped::Lost(_) | Stopped::Forced => {
                let grace_ms = u64::try_from(self.stubborn.grace().as_millis());
                let grace_ms = grace_ms.unwrap_or(u64::MAX);
                Err(failure::stopped(reason, timeout_ms, grace_ms))
            }
        }
    }
}

impl<S: Stubborn> Drop for Run<'_, S> {
    fn drop(&mut self) {
        let Some(opened) = self.opened.take() else {
            return;
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(stop(
                opened,
                CancelReason::ClientGone,
                self.stubborn.clone(),
            ));
        }
    }
}

/// Sends the stop signal to the handler, and gives it up if it does not stop.
async fn stop(mut opened: Opened, reason: CancelReason, stubborn: impl Stubborn) -> Stopped {
    opened.link.cancel(opened.id, reason);
    if let Ok(answer) = tokio::time::timeout(stubborn.grace(), opened.answer()).await {
        return Stopped::Answered(answer);
    }
    match stubborn.give_up(opened).await {
        Some(error) => Stopped::Lost(error),
        None => Stopped::Forced,
    }
}

fn settle(answer: Answer, result_bytes: usize) -> Result<Reply, WorkError> {
    let json = answer?;
    let reply: Reply = json.read().map_err(|error| {
        let message = format!("the result is not one: {error}");
        WorkError::new(ErrorCode::ProtocolError, message)
    })?;
    if let Some(value) = reply
        .value
        .as_ref()
        .filter(|value| value.bytes() > result_bytes)
    {
        return Err(failure::result_too_large(value.bytes(), result_bytes));
    }
    Ok(reply)
}
