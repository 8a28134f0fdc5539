//! What a handler said, and the line of those who store it: whoever stores something durable stores
//! what was said before it too, so that the stream has things in the order in which they were said
//! and asked for.

use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use riverrun_contract::LogLimit;
use riverrun_types::{Draft, Json};

use super::waiting::Waiting;
use crate::base::Base;

/// How long what was said waits for more.
pub(crate) const GATHER: Duration = Duration::from_millis(50);

pub(crate) struct Gathered {
    base: Base,
    waiting: Mutex<Waiting>,
    /// Held from the taking of what waits until it is stored.
    storing: tokio::sync::Mutex<()>,
}

/// What was taken to be stored. Once its turn has come nobody else stores anything meanwhile. What
/// is not stored when this is dropped waits again, before what came later.
pub(crate) struct GatheredBatch<'a> {
    from: &'a Gathered,
    pub drafts: Vec<Draft>,
    pub progress: Option<Json>,
    /// Some of it is emitted, and is led to the steps that subscribe to it.
    pub has_emitted: bool,
    storing: Option<tokio::sync::MutexGuard<'a, ()>>,
}

impl GatheredBatch<'_> {
    /// It is stored.
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

    /// Takes what waits and a place in the line of those who store, both before it first waits:
    /// whatever is said from then on comes later.
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

    /// Waits until what was asked for before is stored.
    pub async fn settled(&self) {
        let _ = self.storing.lock().await;
    }

    /// Whatever is said from now on is dropped.
    pub fn end(&self) {
        self.waiting().is_closed = true;
    }

    /// Whatever is not stored once it has ended.
    pub async fn rest(&self) -> (Vec<Draft>, Option<Json>) {
        let _storing = self.storing.lock().await;
        self.waiting().close(self.base.now_ms())
    }
}
