//! The frames and requests of the handler of a job or a call while it runs.
//!
//! Frames (logs, progress, partial results) are gathered and stored a little later (`said`).
//! Requests are answered when they are durable (`asked`; `state` for the state, `emit` for the
//! events that may be emitted). The job's lease fences everything; a call is its own holder
//! (`home`). A batch has a host for each of its jobs (`batch`).

mod asked;
mod batch;
mod emit;
mod gathered;
mod home;
mod params;
mod said;
mod state;
mod stream;
mod waiting;

pub(crate) use emit::{emitted, too_large};
pub(crate) use gathered::{GATHER, Gathered, GatheredBatch};
pub(crate) use params::{BatchParams, EmitParams, KeyParams, params};
pub(crate) use state::{StateRead, path};

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_contract::{Cancellation, Host, Process};
use riverrun_engine::RunState;
use riverrun_protocol::{CancelReason, Frame, WorkError};
use riverrun_store::{Error as StoreError, JobLease, job_progress};
use riverrun_types::{Draft, ErrorCode, EventType, Json, Retry};
use serde_json::json;

pub(super) use batch::BatchHost;
pub(super) use home::{CallHome, Home};
use said::Said;

use super::{Queues, record, request::KeptOptions, tries::Tries};
use crate::base::Error;

pub(super) use stream::journal;

pub(crate) struct JobHost {
    queues: Queues,
    process: Arc<Process>,
    home: Home,
    correlation_id: Option<String>,
    tenant_id: Option<String>,
    /// How many events started a run on the way to this one.
    chain: u32,
    cancel: Cancellation,
    said: Said,
    /// The job's state, read on first use. One writer at a time.
    stream: tokio::sync::Mutex<Option<RunState>>,
    /// Held while jobs are prepared that the handler adds: queues get them in its order.
    adding: tokio::sync::Mutex<()>,
    /// Operations of the handler's code that failed.
    tries: Tries,
    /// The retry settings of the job itself.
    own_retry: Option<Box<Retry>>,
}

impl JobHost {
    pub fn new(
        queues: Queues,
        process: Arc<Process>,
        lease: JobLease,
        options: &KeptOptions,
        cancel: Cancellation,
    ) -> Self {
        Self::at(queues, process, Home::Job(lease), options, cancel)
    }

    pub(super) fn at(
        queues: Queues,
        process: Arc<Process>,
        home: Home,
        options: &KeptOptions,
        cancel: Cancellation,
    ) -> Self {
        let own_retry = options.has_retry().then(|| {
            let policy = options.policy(Some(&process));
            Box::new(policy.retry_for_ever_if_said())
        });
        let own = options.correlation_id.clone();
        let correlation = own.unwrap_or_else(|| home.id().to_string());
        Self {
            said: Said::new(queues.base().clone(), home.clone(), process.config.logs),
            queues,
            process,
            home,
            correlation_id: Some(correlation),
            tenant_id: options.tenant_id.clone(),
            chain: options.chain,
            cancel,
            stream: tokio::sync::Mutex::default(),
            adding: tokio::sync::Mutex::default(),
            tries: Tries::default(),
            own_retry,
        }
    }

    /// The frames that are not stored yet: events and the latest progress. Later frames are
    /// dropped.
    pub async fn close(&self) -> (Vec<Draft>, Option<Json>) {
        self.said.close().await
    }
}

#[async_trait]
impl Host for JobHost {
    fn frame(&self, frame: Frame) {
        if let Some(mut draft) = record::frame_event(&frame, self.queues.base().now_ms()) {
            let is_progress = draft.kind == EventType::Progress;
            let progress = draft.data.clone().filter(|_| is_progress);
            // For a job, an emitted event is part of its life, in the form that it has on the
            // channel of its queue.
            if let (Some(said), Some(lease)) = (&progress, self.home.lease()) {
                draft = job_progress(draft.ms, &lease.queue, said);
            }
            self.said.say(draft, progress);
        }
    }

    async fn ask(&self, method: &str, asked: Json) -> Result<Json, WorkError> {
        if self.said.is_closed() {
            return Err(WorkError::new(
                ErrorCode::InvocationEnded,
                "the invocation has ended",
            ));
        }
        if self.cancel.reason() == Some(CancelReason::LeaseLost) {
            if method == "lease" {
                return Ok(asked::lease(false, 0));
            }
            return Err(WorkError::new(
                ErrorCode::LeaseLost,
                "the lease on the job is gone",
            ));
        }
        self.answer(method, &asked).await
    }
}

fn refused(error: StoreError) -> WorkError {
    match error {
        StoreError::JobLost(_) => {
            WorkError::new(ErrorCode::LeaseLost, "the lease on the job is gone")
        }
        error => WorkError::new(error.code(), error.to_string()),
    }
}

fn failed(error: Error) -> WorkError {
    if let Error::ProcessBroken(error) = error {
        return *error;
    }
    let details = match &error {
        Error::InputInvalid(issues) => Some(json!({ "issues": issues })),
        _ => None,
    };
    let work = WorkError::new(error.code(), error.to_string());
    match details {
        Some(details) => work.details(&details),
        None => work,
    }
}
