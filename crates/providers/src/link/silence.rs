//! Detects a peer that does not answer.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::Link;

impl Link {
    /// Returns when the other side, which runs something, has said nothing for `silent`, though it
    /// was asked. It is asked early, so that it is known in time and has not to send heartbeats
    /// faster.
    ///
    /// There is one timer, however much runs: what is said moves it on only when it fires.
    pub async fn silence(self: &Arc<Self>, silent: Duration) {
        let early = silent / 3;
        loop {
            let quiet = self.silent_since().map(|since| since.elapsed());
            match quiet {
                // What begins meanwhile cannot have been quiet for long when this looks again.
                None => tokio::time::sleep(early).await,
                Some(quiet) if quiet < early => tokio::time::sleep(early - quiet).await,
                Some(_) if self.answers(silent - early).await => {}
                Some(_) => return,
            }
        }
    }

    /// Whether the other side says anything within a time when it is asked. Everybody answers a
    /// request that he does not know, if only with an error.
    pub async fn answers(self: &Arc<Self>, within: Duration) -> bool {
        let asked = Instant::now();
        let params = serde_json::json!({});
        let answer = tokio::time::timeout(within, self.request("ping", &params)).await;
        answer.is_ok() || self.last_received() > asked
    }

    /// Since when the other side has run something and said nothing; none while it runs nothing.
    fn silent_since(&self) -> Option<Instant> {
        let busy = self.open.lock().busy()?;
        Some(busy.max(self.last_received()))
    }
}
