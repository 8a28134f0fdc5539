//! The deadline by which an attempt's frames are stored, if no other commit stores them before.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

pub(super) struct Due {
    at: Mutex<Option<Instant>>,
    /// Notified when the deadline moves forward.
    moved: Notify,
}

impl Due {
    /// The first time is this far away.
    pub fn new(first: Duration) -> Self {
        Self {
            at: Mutex::new(Some(Instant::now() + first)),
            moved: Notify::new(),
        }
    }

    /// Sets a deadline for new frames.
    pub fn within(&self, time: Duration) {
        let by = Instant::now() + time;
        let mut at = self.at.lock();
        if at.is_none_or(|at| by < at) {
            *at = Some(by);
            self.moved.notify_one();
        }
    }

    /// Resolves at the deadline; without waiting frames there is no next one.
    pub async fn come(&self) {
        loop {
            let at = *self.at.lock();
            let time = async {
                match at {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.moved.notified() => {}
                () = time => {
                    *self.at.lock() = None;
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    const NOW: Duration = Duration::ZERO;
    const LATER: Duration = Duration::from_secs(3_600);

    #[tokio::test]
    async fn the_earliest_time_counts_and_each_once() {
        let due = Due::new(LATER);
        assert!(due.come().now_or_never().is_none());
        // Earlier than the current deadline, and later than it.
        let earlier = async {
            due.within(NOW);
            due.within(LATER);
        };
        tokio::join!(due.come(), earlier);
        assert!(due.come().now_or_never().is_none(), "nothing waits");
        due.within(NOW);
        due.come().await;
    }
}
