//! The gathered frames of a handler, and the order in which they are stored: a task that stores
//! something durable first stores the frames before it, so that the stream keeps the order in which
//! the handler sent frames and requests.

use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use riverrun_contract::LogLimit;
use riverrun_types::{Draft, Json};

use super::waiting::Waiting;
use crate::base::Base;

/// How long frames wait for more.
pub(crate) const GATHER: Duration = Duration::from_millis(50);

pub(crate) struct Gathered {
    base: Base,
    waiting: Mutex<Waiting>,
    /// Held from the taking of the waiting frames until they are stored.
    storing: tokio::sync::Mutex<()>,
}

/// Frames that were taken to be stored. Once its turn has come no other task stores frames
/// meanwhile. Frames that are not stored when this is dropped wait again, before later ones.
pub(crate) struct GatheredBatch<'a> {
    from: &'a Gathered,
    pub drafts: Vec<Draft>,
    pub progress: Option<Json>,
    /// Some of them are emitted events, which enter the steps that subscribe to them.
    pub has_emitted: bool,
    storing: Option<tokio::sync::MutexGuard<'a, ()>>,
}

impl GatheredBatch<'_> {
    /// Marks them as stored.
    pub fn stored(&mut self) -> Vec<Draft> {
        self.progress = None;
        std::mem::take(&mut self.drafts)
    }
}

impl Drop for GatheredBatch<'_> {
    fn drop(&mut self) {
        if !self.drafts.is_empty() || self.progress.is_some() {
            let (drafts, progress) = (std::mem::take(&mut self.drafts), self.progress.take());
            self.from.waiting().put_back(drafts, progress);
        }
    }
}

impl Gathered {
    pub fn new(base: Base, limit: LogLimit) -> Self {
        Self {
            base,
            waiting: Mutex::new(Waiting::new(limit)),
            storing: tokio::sync::Mutex::default(),
        }
    }

    pub fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock()
    }

    pub fn is_closed(&self) -> bool {
        self.waiting().is_closed
    }

    /// Takes the waiting frames and a place in the order, both before it first waits: later frames
    /// come after.
    pub async fn take(&self) -> GatheredBatch<'_> {
        let (has_emitted, (drafts, progress)) = {
            let mut waiting = self.waiting();
            (waiting.emitted() > 0, waiting.take(self.base.now_ms()))
        };
        let mut taken = GatheredBatch {
            from: self,
            drafts,
            progress,
            has_emitted,
            storing: None,
        };
        taken.storing = Some(self.storing.lock().await);
        taken
    }

    /// Waits until earlier requests are stored.
    pub async fn settled(&self) {
        let _ = self.storing.lock().await;
    }

    /// Drops all frames from now on.
    pub fn end(&self) {
        self.waiting().is_closed = true;
    }

    /// The frames that are not stored once it has ended.
    pub async fn rest(&self) -> (Vec<Draft>, Option<Json>) {
        let _storing = self.storing.lock().await;
        self.waiting().close(self.base.now_ms())
    }
}
