//! Holders of a run's lease, which are notified when another task moves the run.

use std::sync::Arc;

use riverrun_types::RunId;
use tokio::sync::Notify;

use super::Hub;

impl Hub {
    /// Registers the holder of a run's lease; it is notified when any other task moves the run.
    pub fn hold(self: &Arc<Self>, run: &RunId) -> Holder {
        let notify = Arc::new(Notify::new());
        self.holders.insert(run.clone(), notify.clone());
        Holder {
            hub: self.clone(),
            run: run.clone(),
            notify,
        }
    }

    /// Notifies the holder of a run's lease, if it is here.
    pub fn nudge(&self, run: &RunId) {
        if let Some(holder) = self.holders.get(run) {
            holder.notify_one();
        }
    }
}

/// The holder of a run's lease, as the hub knows it.
pub struct Holder {
    hub: Arc<Hub>,
    run: RunId,
    notify: Arc<Notify>,
}

impl Holder {
    /// Waits until another task moved the run. An earlier notification is not lost.
    pub async fn nudged(&self) {
        self.notify.notified().await;
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.hub
            .holders
            .remove_if(&self.run, |_, notify| Arc::ptr_eq(notify, &self.notify));
    }
}
