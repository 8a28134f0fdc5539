//! Runs the jobs of a child that died in children of their own, so that the one that crashes is
//! alone.

use std::{sync::Arc, time::Duration};

use riverrun_contract::Invocation;
use tokio::sync::{SemaphorePermit, oneshot};

use super::{child::Child, pool::Pool};

/// Jobs that are run apart at once.
pub(super) const PLACES: usize = 8;
/// How long a job that has no timeout waits for a place.
const PATIENCE: Duration = Duration::from_secs(10);

/// A child for one job. It ends with it.
pub(super) struct Apart<'a> {
    pub child: Arc<Child>,
    _place: SemaphorePermit<'a>,
}

impl Drop for Apart<'_> {
    fn drop(&mut self) {
        self.child.retire();
    }
}

impl Pool {
    /// A child of its own, for what was in a child that died. None for all others, and for what
    /// would wait too long for one: its time runs.
    pub async fn apart(self: &Arc<Self>, invocation: &Invocation) -> Option<Apart<'_>> {
        let invoke = &invocation.invoke;
        if !self.spared.is_suspect(invoke) {
            return None;
        }
        let patience = invoke.timeout_ms.map(|ms| Duration::from_millis(ms / 4));
        let place = tokio::select! {
            place = self.apart.acquire() => place.ok()?,
            () = self.spared.acquitted(invoke) => return None,
            () = tokio::time::sleep(patience.unwrap_or(PATIENCE)) => return None,
            _ = invocation.cancel.cancelled() => return None,
        };
        // In a task of its own: the child has to end even if the caller is dropped.
        let (started, child) = oneshot::channel();
        let pool = self.clone();
        tokio::spawn(async move {
            if let Ok(child) = pool.child().await
                && let Err(child) = started.send(child)
            {
                child.retire();
            }
        });
        Some(Apart {
            child: child.await.ok()?,
            _place: place,
        })
    }
}
