//! Jobs whose holder was not heard of in time: each is tried again or fails, by the same decision
//! as any other failure. Every instance looks for them; whoever is first wins.

use std::{collections::HashMap, time::Duration};

use riverrun_store::StalledJob;
use riverrun_types::{Millis, RunId};

use crate::{Runtime, leases::lease_ms, runtime::rest};

/// Jobs that are looked at together.
const BATCH: usize = 256;

pub(crate) async fn reap(runtime: Runtime) {
    let every = runtime.options().lease / 3;
    let mut strangers = Strangers::default();
    loop {
        let limit = BATCH + strangers.since.len();
        let stalled = runtime.store().stalled_jobs(runtime.now_ms(), limit);
        let (stalled, _) = stalled.await.unwrap_or_else(|error| {
            tracing::warn!(%error, "stalled jobs could not be looked for");
            (Vec::new(), None)
        });
        let is_full = stalled.len() == limit;
        let mine = strangers.leave(&runtime, stalled);
        let is_done = mine.is_empty();
        for job in mine {
            runtime.give_up(job).await;
        }
        if (!is_full || is_done) && !idle(&runtime, every).await {
            return;
        }
    }
}

/// Waits for the next look; false when the server stops.
async fn idle(runtime: &Runtime, every: Duration) -> bool {
    let look = async {
        tokio::select! {
            () = runtime.clock().sleep_lightly(every) => {}
            () = runtime.processes().taken_up.notified() => {}
        }
    };
    rest(runtime, look).await
}

/// Jobs of queues that nobody here takes jobs of. How often they may be tried only their process
/// says, and it may not be loaded yet, or be known to another instance: they are left alone for as
/// long as a lease lasts.
#[derive(Default)]
struct Strangers {
    since: HashMap<RunId, Millis>,
}

impl Strangers {
    /// Those that are to be judged now.
    fn leave(&mut self, runtime: &Runtime, stalled: Vec<StalledJob>) -> Vec<StalledJob> {
        let now = runtime.now_ms();
        let mut since = HashMap::new();
        let mine = stalled
            .into_iter()
            // What runs here is alive, though its lease may have run out: the machine slept. It is
            // about to be renewed.
            .filter(|stalled| !runtime.keeper().holds(&stalled.job.lease))
            .filter(|stalled| {
                if stalled.cancelling || runtime.processes().of_queue(&stalled.queue).is_some() {
                    return true;
                }
                let id = &stalled.job.lease.id;
                let first = self.since.get(id).copied().unwrap_or(now);
                let is_over = now.saturating_sub(first) >= lease_ms(runtime);
                if !is_over {
                    since.insert(id.clone(), first);
                }
                is_over
            })
            .collect();
        self.since = since;
        mine
    }
}
