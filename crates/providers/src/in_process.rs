//! A Rust function of this program as a provider.
//!
//! It runs on the server's own runtime, so it must not block a thread; it can be stopped only where
//! it awaits. A panic is the error of its invocation.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::{FutureExt, future::BoxFuture};
use riverrun_contract::{Cancellation, Host, Invocation, Provider};
use riverrun_protocol::{CancelReason, Frame, Invoke, LogLevel, Reply, WorkError};
use riverrun_types::{ErrorCode, Json};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{failure, process::timer};

type Function = dyn Fn(Json, Context) -> BoxFuture<'static, Result<Json, WorkError>> + Send + Sync;

/// Runs the invocations of one process by calling a function.
pub struct InProcess {
    function: Arc<Function>,
    cancel_grace: Duration,
}

impl InProcess {
    /// How long a function that was asked to stop may take until it is dropped.
    const CANCEL_GRACE: Duration = Duration::from_secs(5);

    pub fn new<F, R>(function: F) -> Self
    where
        F: Fn(Json, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Json, WorkError>> + Send + 'static,
    {
        Self {
            function: Arc::new(move |input, context| function(input, context).boxed()),
            cancel_grace: Self::CANCEL_GRACE,
        }
    }

    pub fn cancel_grace(mut self, grace: Duration) -> Self {
        self.cancel_grace = grace;
        self
    }
}

#[async_trait]
impl Provider for InProcess {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let timeout_ms = invocation.invoke.timeout_ms;
        let own_cancel = Cancellation::default();
        let context = Context {
            invoke: invocation.invoke.clone(),
            host: invocation.host,
            cancel: own_cancel.clone(),
        };
        let input = input(&invocation.invoke);
        // Both the call and the future that it gives may panic.
        let function = self.function.clone();
        let running = async move { function(input, context).await };
        let mut running = std::pin::pin!(AssertUnwindSafe(running).catch_unwind());
        let reason = tokio::select! {
            biased;
            ended = &mut running => return settle(ended),
            reason = invocation.cancel.cancelled() => reason,
            () = timer(timeout_ms) => CancelReason::Timeout,
        };
        own_cancel.cancel(reason);
        let ended = tokio::time::timeout(self.cancel_grace, running).await;
        match (ended, reason) {
            // What was too slow has failed, whatever it still brings.
            (_, CancelReason::Timeout) => Err(failure::timeout(timeout_ms.unwrap_or_default())),
            (Ok(Ok(Ok(value))), _) => settle(Ok(Ok(value))),
            (Ok(Ok(Err(error))), _) if !error.is_cancelled() => Err(error),
            (Ok(Err(panic)), _) => settle(Err(panic)),
            (_, reason) => Err(failure::cancelled(reason)),
        }
    }
}

/// The input, or the list of jobs of a batch.
fn input(invoke: &Invoke) -> Json {
    match invoke.jobs.is_empty() {
        true => invoke.job.input.clone().unwrap_or_else(Json::null),
        false => Json::of(&invoke.jobs),
    }
}

fn settle(
    ended: Result<Result<Json, WorkError>, Box<dyn std::any::Any + Send>>,
) -> Result<Reply, WorkError> {
    let panicked = |panic: Box<dyn std::any::Any + Send>| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        let what = text.unwrap_or_else(|| "it did not say why".to_owned());
        WorkError::new(
            ErrorCode::HandlerPanic,
            format!("the handler panicked: {what}"),
        )
    };
    let value = ended.map_err(panicked)??;
    Ok(Reply {
        value: Some(value),
        ..Reply::default()
    })
}

/// What a function may ask of the server while it runs. Clones are of the same invocation.
#[derive(Clone)]
pub struct Context {
    invoke: Arc<Invoke>,
    host: Arc<dyn Host>,
    cancel: Cancellation,
}

impl Context {
    /// The job: its id, attempt, checkpoint and so on.
    pub fn invoke(&self) -> &Invoke {
        &self.invoke
    }

    /// Returns when the function is to stop, with the reason.
    pub async fn cancelled(&self) -> CancelReason {
        self.cancel.cancelled().await
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    pub fn log(&self, level: LogLevel, message: impl Into<String>) {
        self.host.frame(Frame::Log {
            level,
            message: message.into(),
            meta: None,
        });
    }

    pub fn progress(&self, pct: f64, detail: Option<Json>) {
        let pct = Some(pct);
        self.host.frame(Frame::Progress { pct, detail });
    }

    pub fn partial(&self, path: Option<String>, value: Json) {
        self.host.frame(Frame::Partial { path, value });
    }

    /// A value of the state; `None` if there is none.
    pub async fn get(&self, key: &str) -> Result<Option<Json>, WorkError> {
        #[derive(Deserialize)]
        struct Got {
            value: Option<Json>,
        }
        let got = self.ask("state.get", &json!({ "key": key })).await?;
        let got: Got = got
            .read()
            .map_err(|error| unreadable("state.get", &error))?;
        Ok(got.value)
    }

    pub async fn set(&self, key: &str, value: &impl Serialize) -> Result<(), WorkError> {
        let params = json!({ "key": key, "value": value });
        self.ask("state.set", &params).await.map(drop)
    }

    pub async fn emit(&self, r#type: &str, data: &impl Serialize) -> Result<(), WorkError> {
        let params = json!({ "type": r#type, "data": data });
        self.ask("emit", &params).await.map(drop)
    }

    /// The next attempt of the job is given this.
    pub async fn checkpoint(&self, data: &impl Serialize) -> Result<(), WorkError> {
        self.ask("checkpoint", &json!({ "data": data }))
            .await
            .map(drop)
    }

    /// Any durable request of the protocol (`enqueue`, `call`, `start`, …).
    pub async fn ask(&self, method: &str, params: &impl Serialize) -> Result<Json, WorkError> {
        self.host.ask(method, Json::of(params)).await
    }
}

fn unreadable(method: &str, error: &serde_json::Error) -> WorkError {
    WorkError::new(
        ErrorCode::Internal,
        format!("the answer to {method} cannot be read: {error}"),
    )
}
