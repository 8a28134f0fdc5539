//! Runs, their snapshots, and the run tasks that drive them.

use async_trait::async_trait;
use riverrun_store::{
    Beat, ClaimRunTasks, ClaimedRunTask, Page, Result, RunFilter, RunLease, RunRecord, Snapshot,
    adapter::RunStore,
};
use riverrun_types::{Millis, RunId};

use crate::{SqliteStore, read, run_task_lease};

#[async_trait]
impl RunStore for SqliteStore {
    async fn runs(&self, ids: &[RunId]) -> Result<Vec<RunRecord>> {
        if let [id] = ids {
            let id = id.clone();
            let found = self.find(move |view| read::run(view, &id)).await?;
            return Ok(found.into_iter().collect());
        }
        let ids = ids.to_vec();
        self.read(move |view| read::runs(view, &ids)).await
    }

    async fn list_runs(&self, filter: &RunFilter) -> Result<Page<RunRecord>> {
        let filter = filter.clone();
        self.read(move |view| read::list_runs(view, &filter)).await
    }

    async fn snapshot(&self, run: &RunId, len: u64) -> Result<Option<Snapshot>> {
        let run = run.clone();
        self.read(move |view| read::snapshot(view, &run, len)).await
    }

    async fn claim_run_tasks(&self, claim: ClaimRunTasks) -> Result<Vec<ClaimedRunTask>> {
        self.writer
            .write(move |core| {
                core.judge_room()?;
                run_task_lease::claim(core, &claim)
            })
            .await
    }

    async fn heartbeat(&self, leases: &[RunLease], until_ms: Millis) -> Result<Vec<Beat>> {
        let leases = leases.to_vec();
        self.writer
            .write(move |core| run_task_lease::heartbeat(core, &leases, until_ms))
            .await
    }

    async fn next_due(&self) -> Result<Option<Millis>> {
        self.read(read::next_due).await
    }

    async fn set_aside(&self, run: &RunId) -> Result<()> {
        let run = run.clone();
        self.writer
            .write(move |core| run_task_lease::set_aside(core, &run))
            .await
    }
}
