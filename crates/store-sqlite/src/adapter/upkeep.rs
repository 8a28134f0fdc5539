//! Retention, takeover after a crash, and the server's own markers.

use async_trait::async_trait;
use riverrun_store::{Reclaimed, Result, Retention, adapter::UpkeepStore};
use riverrun_types::{Json, Millis};

use crate::{SqliteStore, awaits, marker, queue, read, run_task_lease, triggers, upkeep};

#[async_trait]
impl UpkeepStore for SqliteStore {
    async fn reclaim(&self) -> Result<Reclaimed> {
        self.writer
            .write(|core| {
                Ok(Reclaimed {
                    runs: run_task_lease::reclaim(core)?,
                    jobs: queue::reclaim(core)?,
                })
            })
            .await
    }

    async fn sweep(&self, retention: &Retention, now: Millis, limit: usize) -> Result<u64> {
        let retention = *retention;
        self.writer
            .write(move |core| {
                let runs = upkeep::sweep(core, &retention, now, limit)?;
                let room = limit.saturating_sub(runs as usize);
                let jobs = queue::sweep(core, &retention, now, room)?;
                let room = room.saturating_sub(jobs as usize);
                let emits = awaits::trim(core, &retention, now, room)?;
                let room = room.saturating_sub(emits as usize);
                Ok(runs + jobs + emits + triggers::sweep(core, &retention, now, room)?)
            })
            .await
    }

    async fn marker(&self, name: &str) -> Result<Option<Json>> {
        let name = name.to_owned();
        self.read(move |view| read::marker(view, &name)).await
    }

    async fn set_marker(&self, name: &str, value: Option<Json>) -> Result<()> {
        let name = name.to_owned();
        self.writer
            .write(move |core| marker::set(core, &name, value.as_ref()))
            .await
    }
}
