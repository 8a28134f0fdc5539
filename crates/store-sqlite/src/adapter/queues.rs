//! Queues and jobs: claims, leases, lists.

use async_trait::async_trait;
use riverrun_store::{
    ClaimJobs, ClaimedJobs, Error, JobBeats, JobFilter, JobRecord, Page, Purge, QueueRecord,
    Result, StalledJob, adapter::QueueStore,
};
use riverrun_types::{Millis, Name, RunId};

use crate::{SqliteStore, queue, read};

#[async_trait]
impl QueueStore for SqliteStore {
    async fn claim_jobs(&self, claim: ClaimJobs) -> Result<ClaimedJobs> {
        self.writer
            .write(move |core| {
                core.judge_room()?;
                queue::claim(core, &claim)
            })
            .await
    }

    async fn lease_jobs(&self, owner: &Name, until_ms: Millis) -> Result<u64> {
        let owner = owner.clone();
        self.writer
            .write(move |core| {
                core.judge_room()?;
                queue::lease(core, &owner, until_ms)
            })
            .await
    }

    async fn keep_jobs(&self, tokens: &[u64], until_ms: Millis) -> Result<JobBeats> {
        let tokens = tokens.to_vec();
        self.writer
            .write(move |core| queue::keep(core, &tokens, until_ms))
            .await
    }

    async fn stalled_jobs(
        &self,
        now_ms: Millis,
        limit: usize,
    ) -> Result<(Vec<StalledJob>, Option<Millis>)> {
        self.writer
            .write(move |core| queue::stalled(core, now_ms, limit))
            .await
    }

    async fn purge_jobs(&self, purge: &Purge) -> Result<u64> {
        let purge_now = || {
            let purge = purge.clone();
            self.writer.write(move |core| queue::purge(core, &purge))
        };
        match purge_now().await {
            // The reserve was released.
            Err(Error::Full(_)) => purge_now().await,
            done => done,
        }
    }

    async fn job(&self, id: &RunId) -> Result<Option<JobRecord>> {
        let id = id.clone();
        self.glance(move |view| read::job(view, &id)).await
    }

    async fn newest_job(&self) -> Result<Option<RunId>> {
        self.read(read::newest_job).await
    }

    async fn jobs_ahead(&self, id: &RunId) -> Result<Option<u64>> {
        let id = id.clone();
        self.read(move |view| read::jobs_ahead(view, &id)).await
    }

    async fn list_jobs(&self, filter: &JobFilter) -> Result<Page<JobRecord>> {
        let filter = filter.clone();
        self.read(move |view| read::list_jobs(view, &filter)).await
    }

    async fn queues(&self, name: Option<&str>) -> Result<Vec<QueueRecord>> {
        match name.map(str::to_owned) {
            Some(name) => {
                self.glance(move |view| read::queues(view, Some(&name)))
                    .await
            }
            None => self.read(|view| read::queues(view, None)).await,
        }
    }

    async fn active_of_key(&self, queue: &str, key: &str) -> Result<u64> {
        let (queue, key) = (queue.to_owned(), key.to_owned());
        self.read(move |view| read::active_of_key(view, &queue, &key))
            .await
    }
}
