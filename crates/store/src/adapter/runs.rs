//! Runs, their snapshots, and the run tasks that drive them.

use async_trait::async_trait;
use riverrun_types::{Millis, RunId};

use crate::{
    Beat, ClaimRunTasks, ClaimedRunTask, Page, Result, RunFilter, RunLease, RunRecord, Snapshot,
};

/// Runs and run tasks.
#[async_trait]
pub trait RunStore: Send + Sync + 'static {
    /// The records of those of `ids` that exist, in any order.
    async fn runs(&self, ids: &[RunId]) -> Result<Vec<RunRecord>>;

    /// The record of one run.
    async fn run(&self, id: &RunId) -> Result<Option<RunRecord>> {
        Ok(self.runs(std::slice::from_ref(id)).await?.pop())
    }

    /// A page of runs, newest first.
    async fn list_runs(&self, filter: &RunFilter) -> Result<Page<RunRecord>>;

    /// The latest snapshot that covers at most the first `len` events of the run's stream.
    async fn snapshot(&self, run: &RunId, len: u64) -> Result<Option<Snapshot>>;

    /// Claims up to `claim.limit` run tasks that are due and not leased, or whose lease has
    /// expired, earliest first, and leases them to `claim.owner`, durably.
    async fn claim_run_tasks(&self, claim: ClaimRunTasks) -> Result<Vec<ClaimedRunTask>>;

    /// Moves the expiry of leases that are still held, and returns which were woken or lost.
    async fn heartbeat(&self, leases: &[RunLease], until_ms: Millis) -> Result<Vec<Beat>>;

    /// When the next run task becomes due or the next lease of one expires.
    async fn next_due(&self) -> Result<Option<Millis>>;

    /// Keeps a run from being claimed until it is woken, without reading it. For a run that cannot
    /// be read; does nothing if the run does not exist.
    async fn set_aside(&self, run: &RunId) -> Result<()>;
}
