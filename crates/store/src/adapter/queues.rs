//! Queues and jobs: claims, leases, lists.

use async_trait::async_trait;
use riverrun_types::{Millis, Name, RunId};

use crate::{
    ClaimJobs, ClaimedJobs, JobBeats, JobFilter, JobRecord, Page, Purge, QueueRecord, Result,
    StalledJob,
};

/// Queues and jobs.
#[async_trait]
pub trait QueueStore: Send + Sync + 'static {
    /// Takes up to `claim.limit` jobs of a queue that may begin within its limits, and leases them
    /// to `claim.owner`, durably.
    async fn claim_jobs(&self, claim: ClaimJobs) -> Result<ClaimedJobs>;

    /// A lease that holds no job yet, for jobs that begin where they are added
    /// ([`crate::TakeJobs`]).
    async fn lease_jobs(&self, owner: &Name, until_ms: Millis) -> Result<u64>;

    /// Moves the expiry of the leases with these tokens, and returns the lost leases and the jobs
    /// under them that must stop.
    async fn keep_jobs(&self, tokens: &[u64], until_ms: Millis) -> Result<JobBeats>;

    /// Up to `limit` jobs whose lease has expired, and when the next lease expires. Delayed jobs
    /// whose time has come wait from now on, also in queues without claims.
    async fn stalled_jobs(
        &self,
        now_ms: Millis,
        limit: usize,
    ) -> Result<(Vec<StalledJob>, Option<Millis>)>;

    /// Removes up to `purge.limit` jobs that are not active, the oldest first, and returns how
    /// many.
    async fn purge_jobs(&self, purge: &Purge) -> Result<u64>;

    async fn job(&self, id: &RunId) -> Result<Option<JobRecord>>;

    /// The job that was added last, in any queue.
    async fn newest_job(&self) -> Result<Option<RunId>>;

    /// How many waiting jobs of the same queue and key (or of none) begin before this one, counted
    /// up to [`crate::MAX_AHEAD`]. None if it does not wait.
    async fn jobs_ahead(&self, id: &RunId) -> Result<Option<u64>>;

    async fn list_jobs(&self, filter: &JobFilter) -> Result<Page<JobRecord>>;

    /// The queue of a name, or every queue, by name.
    async fn queues(&self, name: Option<&str>) -> Result<Vec<QueueRecord>>;

    /// The queue of a name.
    async fn queue(&self, name: &str) -> Result<Option<QueueRecord>> {
        Ok(self.queues(Some(name)).await?.pop())
    }

    /// How many jobs of a key in a queue are active.
    async fn active_of_key(&self, queue: &str, key: &str) -> Result<u64>;
}
