//! Jobs whose lease has expired: each waits for its next attempt, and the lost one is not counted.
//! Every instance looks for them; the first one wins.

use std::time::Duration;

use riverrun_store::StalledJob;

use super::Queues;

/// Jobs that are read together.
const BATCH: usize = 256;

pub(crate) async fn reap(queues: Queues) {
    let every = queues.base().options().lease / 3;
    loop {
        let stalled = queues
            .base()
            .store()
            .stalled_jobs(queues.base().now_ms(), BATCH);
        let (stalled, _) = stalled.await.unwrap_or_else(|error| {
            tracing::warn!(%error, "stalled jobs could not be read");
            (Vec::new(), None)
        });
        let is_full = stalled.len() == BATCH;
        // A job that runs here is alive, though its lease may have expired while the machine was
        // suspended. It is about to be renewed.
        let is_gone = |stalled: &StalledJob| !queues.keeper().holds(&stalled.job.lease);
        let gone: Vec<StalledJob> = stalled.into_iter().filter(is_gone).collect();
        let is_done = gone.is_empty();
        for job in gone {
            queues.give_up(job).await;
        }
        if (!is_full || is_done) && !idle(&queues, every).await {
            return;
        }
    }
}

/// Waits for the next check; false when the server stops.
async fn idle(queues: &Queues, every: Duration) -> bool {
    let look = async {
        tokio::select! {
            () = queues.base().clock().sleep_lightly(every) => {}
            () = queues.processes().taken_up.notified() => {}
        }
    };
    queues.base().rest(look).await
}
