//! A simulated crash: after a number of writes every user of the store stops.

use std::{
    future::pending,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use async_trait::async_trait;
use riverrun_store::Result;
use tokio::sync::Notify;

use crate::through::Between;

/// Crashes at a moment that is counted in writes. Each group of commits has two such moments,
/// before it is written and after, when it is not answered yet; a claim that took a task or job has
/// one.
///
/// From then on no call is answered, as if the whole process had stopped. The caller drops the
/// rest, the tokio runtime of the process.
pub struct Mortal {
    moments: AtomicUsize,
    is_dead: AtomicBool,
    died: Notify,
}

impl Mortal {
    /// Survives this many moments, and crashes at the next.
    pub fn after(moments: usize) -> Self {
        Self {
            moments: AtomicUsize::new(moments),
            is_dead: AtomicBool::new(false),
            died: Notify::new(),
        }
    }

    /// Resolves after the crash.
    pub async fn died(&self) {
        let died = self.died.notified();
        if !self.is_dead.load(Ordering::SeqCst) {
            died.await;
        }
    }

    async fn live(&self) {
        let left = |left: usize| left.checked_sub(1);
        let order = Ordering::SeqCst;
        if self.moments.fetch_update(order, order, left).is_err() {
            self.is_dead.store(true, order);
            self.died.notify_waiters();
        }
        self.called().await;
    }
}

#[async_trait]
impl Between for Mortal {
    async fn called(&self) {
        if self.is_dead.load(Ordering::SeqCst) {
            pending::<()>().await;
        }
    }

    async fn writes(&self) -> Result<()> {
        self.live().await;
        Ok(())
    }

    async fn written(&self) {
        self.live().await;
    }
}
