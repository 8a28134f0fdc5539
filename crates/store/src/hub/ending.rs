//! Subscribers to the end of a run only.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use riverrun_types::RunId;
use tokio::sync::Notify;

use super::Hub;

impl Hub {
    /// Waits for the end of a run from now on.
    pub fn ending(self: &Arc<Self>, run: &RunId) -> Ending {
        let end = self.ends.entry(run.clone()).or_default().clone();
        Ending {
            hub: self.clone(),
            run: run.clone(),
            end,
        }
    }

    /// Notifies the subscribers to a run that it has ended, or was deleted.
    pub(super) fn ended(&self, run: &RunId) {
        if let Some((_, end)) = self.ends.remove(run) {
            end.has_come.store(true, Ordering::Release);
            end.notify.notify_waiters();
        }
    }
}

#[derive(Default)]
pub(super) struct End {
    has_come: AtomicBool,
    notify: Notify,
}

/// The end of a run, as a subscriber waits for it.
pub struct Ending {
    hub: Arc<Hub>,
    run: RunId,
    end: Arc<End>,
}

impl Ending {
    /// Returns when the run has ended, or was deleted.
    pub async fn come(&self) {
        loop {
            let ended = self.end.notify.notified();
            if self.end.has_come.load(Ordering::Acquire) {
                return;
            }
            ended.await;
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        // The hub's own and this one: every other subscriber has a copy too.
        self.hub.ends.remove_if(&self.run, |_, end| {
            Arc::ptr_eq(end, &self.end) && Arc::strong_count(end) == 2
        });
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Waker},
    };

    use super::*;

    #[test]
    fn all_waiters_are_notified_once_and_removed() {
        let hub = Arc::new(Hub::default());
        let run = RunId::new("r");
        let (first, second) = (hub.ending(&run), hub.ending(&run));
        let other = hub.ending(&RunId::new("s"));
        let has_come = |ending: &Ending| {
            let mut nobody = Context::from_waker(Waker::noop());
            pin!(ending.come()).poll(&mut nobody).is_ready()
        };
        assert!(!has_come(&first));
        hub.ended(&run);
        assert!(has_come(&first) && has_come(&first) && has_come(&second));
        assert!(!has_come(&other));
        // The next run of that id is another one, even for subscribers to the first.
        let next = hub.ending(&run);
        drop((first, second));
        assert!(!has_come(&next));
        hub.ended(&run);
        assert!(has_come(&next));
        let (one, two) = (hub.ending(&run), hub.ending(&run));
        drop(one);
        hub.ended(&run);
        assert!(has_come(&two));
        drop((two, next, other));
        assert!(hub.ends.is_empty());
    }
}
