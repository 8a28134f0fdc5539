//! Retention: deletes expired data.

use super::Base;

impl Base {
    /// Deletes data whose retention is over, a batch at a time, until a shutdown.
    pub(crate) async fn sweep(self) {
        const BATCH: usize = 200;
        let every = self.options().sweep_every;
        while self.rest(self.clock().sleep_lightly(every)).await {
            loop {
                let swept = self
                    .store()
                    .sweep(&self.options().retention, self.now_ms(), BATCH)
                    .await;
                if matches!(swept, Ok(deleted) if deleted > 0) {
                    self.hub().look_everywhere();
                }
                match swept {
                    Ok(deleted) if deleted >= BATCH as u64 => tokio::task::yield_now().await,
                    Ok(_) => break,
                    Err(error) => {
                        tracing::warn!(%error, "retention could not delete expired data");
                        break;
                    }
                }
            }
        }
    }
}
