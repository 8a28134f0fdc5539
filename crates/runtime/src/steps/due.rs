//! When what an attempt said is to be stored, if it is not stored before with something else.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

pub(super) struct Due {
    at: Mutex<Option<Instant>>,
    /// Told when it is earlier than before.
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

    /// There is something that waits no longer than this.
    pub fn within(&self, time: Duration) {
        let by = Instant::now() + time;
        let mut at = self.at.lock();
        if at.is_none_or(|at| by < at) {
            *at = Some(by);
            self.moved.notify_one();
        }
    }

    /// Resolves when the time has come; until something else waits there is no next one.
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
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[tokio::test(start_paused = true)]
    async fn the_earliest_time_counts_and_each_once() {
        let begun = Instant::now();
        let due = Due::new(50 * MS);
        let earlier = async {
            tokio::time::sleep(10 * MS).await;
            due.within(5 * MS);
            due.within(20 * MS);
        };
        tokio::join!(due.come(), earlier);
        assert_eq!(begun.elapsed(), 15 * MS);
        let never = tokio::time::timeout(1_000 * MS, due.come()).await;
        assert!(never.is_err(), "nothing waits");
        due.within(5 * MS);
        due.come().await;
        assert_eq!(begun.elapsed(), 1_020 * MS);
    }
}
