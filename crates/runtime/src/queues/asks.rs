//! The interfaces that queues need from the parts above them. The code that wires a runtime passes
//! them to its queues.

use async_trait::async_trait;
use futures::future::BoxFuture;
use riverrun_store::ClaimedJob;
use riverrun_types::{Json, Name, RunId};

use super::{place::StepPlace, room::ReservedRoom};
use crate::base::Result;

/// The attempts of jobs that are steps of runs.
pub(crate) trait StepAttempts: Send + Sync {
    /// Runs the job of a visit, and sends its outcome to the run. The room is released at its end.
    fn attempt(
        &self,
        job: ClaimedJob,
        place: StepPlace,
        room: ReservedRoom,
    ) -> BoxFuture<'static, ()>;

    /// A step's job whose lease has expired.
    fn give_up(&self, job: ClaimedJob, queue: Name, place: StepPlace) -> BoxFuture<'static, ()>;
}

/// The questions of handlers about runs.
#[async_trait]
pub(crate) trait HandlerRuns: Send + Sync {
    async fn start(&self, wish: RunWish) -> Result<StartedRun>;
}

/// A run that a handler starts.
pub(crate) struct RunWish {
    pub flow: String,
    pub input: Json,
    pub version: Option<String>,
    pub run_id: Option<RunId>,
    pub idempotency_key: Option<String>,
    pub tenant: Option<String>,
    pub tags: Vec<String>,
    pub metadata: Option<Json>,
    pub delay_ms: Option<u64>,
    pub correlation_id: Option<String>,
    pub causation_id: Option<String>,
    /// How many events started a run on the way to it.
    pub chain: u32,
}

/// A run that was started for a handler.
pub(crate) struct StartedRun {
    pub run: RunId,
    /// False if an earlier request with the same key started it.
    pub created: bool,
}
