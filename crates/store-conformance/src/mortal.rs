//! Death at a chosen moment: after so many writes nothing that uses the store goes on.

use std::{
    future::pending,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use async_trait::async_trait;
use riverrun_store::Result;
use tokio::sync::Notify;

use crate::through::Between;

/// Dies at a moment that is counted in writes. Each group of commits has two such moments, before
/// it is written and after, when nobody has the answer yet; a claim that took something has one.
///
/// From then on no call is answered, as if the whole process had stopped. What is left of it is
/// the caller's to drop: the tokio runtime in which it lived.
pub struct Mortal {
    moments: AtomicUsize,
    is_dead: AtomicBool,
    died: Notify,
}

impl Mortal {
    /// Lives through so many moments, and dies at the next.
    pub fn after(moments: usize) -> Self {
        Self {
            moments: AtomicUsize::new(moments),
            is_dead: AtomicBool::new(false),
            died: Notify::new(),
        }
    }

    /// Resolves when it has died.
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
