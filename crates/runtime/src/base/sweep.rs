//! Retention: what is over is deleted when its time has come.

use crate::runtime::{Runtime, rest};

/// Deletes what its retention is over for, a batch at a time.
pub(crate) async fn sweep(runtime: Runtime) {
    const BATCH: usize = 200;
    let every = runtime.options().sweep_every;
    while rest(&runtime, runtime.clock().sleep_lightly(every)).await {
        loop {
            let swept = runtime
                .store()
                .sweep(&runtime.options().retention, runtime.now_ms(), BATCH)
                .await;
            if matches!(swept, Ok(deleted) if deleted > 0) {
                runtime.bus().look_everywhere();
            }
            match swept {
                Ok(deleted) if deleted >= BATCH as u64 => tokio::task::yield_now().await,
                Ok(_) => break,
                Err(error) => {
                    tracing::warn!(%error, "retention could not be looked after");
                    break;
                }
            }
        }
    }
}
