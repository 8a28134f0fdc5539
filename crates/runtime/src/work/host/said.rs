//! What a handler says: gathered for a moment, stored in one commit with whatever else was said.
//! What is left when it ends goes with the outcome, and what waits when the handler asks for
//! something durable goes with that, before it: the stream has things in the order in which they
//! were said.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use riverrun_store::Change;
use riverrun_types::{Draft, Json, Millis};
use tokio::sync::Notify;

use super::{home::Home, waiting::Waiting};
use crate::{Runtime, work::config::LogLimit};

/// How long what was said waits for more.
const GATHER: Duration = Duration::from_millis(50);

pub(super) struct Said {
    runtime: Runtime,
    home: Home,
    shared: Arc<Shared>,
}

struct Shared {
    waiting: Mutex<Waiting>,
    wake: Notify,
    /// Held from the taking of what waits until it is stored.
    storing: tokio::sync::Mutex<()>,
}

/// What was taken to be stored. Once its turn has come nobody else stores anything meanwhile. What
/// is not stored when this is dropped waits again, before what came later.
pub(super) struct Taken<'a> {
    shared: &'a Shared,
    pub drafts: Vec<Draft>,
    pub progress: Option<Json>,
    storing: Option<tokio::sync::MutexGuard<'a, ()>>,
}

impl Taken<'_> {
    /// It is stored.
    pub fn stored(&mut self) -> Vec<Draft> {
        self.progress = None;
        std::mem::take(&mut self.drafts)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if !self.drafts.is_empty() || self.progress.is_some() {
            let mut waiting = self.shared.waiting.lock();
            waiting.put_back(std::mem::take(&mut self.drafts), self.progress.take());
        }
    }
}

impl Shared {
    /// Takes what waits and a place in the line of those who store, both before it first waits:
    /// whatever is said from then on comes later.
    async fn take(&self, now_ms: Millis) -> Taken<'_> {
        let (drafts, progress) = self.waiting.lock().take(now_ms);
        let mut taken = Taken {
            shared: self,
            drafts,
            progress,
            storing: None,
        };
        taken.storing = Some(self.storing.lock().await);
        taken
    }
}

impl Said {
    pub fn new(runtime: Runtime, home: Home, limit: LogLimit) -> Self {
        let shared = Shared {
            waiting: Mutex::new(Waiting::new(limit)),
            wake: Notify::new(),
            storing: tokio::sync::Mutex::default(),
        };
        Self {
            runtime,
            home,
            shared: Arc::new(shared),
        }
    }

    pub fn say(&self, draft: Draft, progress: Option<Json>) {
        if self.shared.waiting.lock().say(draft, progress) {
            let flush = flush(self.runtime.clone(), self.home.clone(), self.shared.clone());
            tokio::spawn(flush);
        }
    }

    /// Takes what waits, to be stored with something else.
    pub async fn take(&self) -> Taken<'_> {
        self.shared.take(self.runtime.now_ms()).await
    }

    /// Waits until what was asked for before is stored.
    pub async fn settled(&self) {
        let _ = self.shared.storing.lock().await;
    }

    /// Whatever is not stored yet; later frames are dropped.
    pub async fn close(&self) -> (Vec<Draft>, Option<Json>) {
        self.shared.waiting.lock().is_closed = true;
        self.shared.wake.notify_one();
        let _storing = self.shared.storing.lock().await;
        self.shared.waiting.lock().close(self.runtime.now_ms())
    }

    pub fn is_closed(&self) -> bool {
        self.shared.waiting.lock().is_closed
    }
}

/// Stores what was said while the handler runs.
async fn flush(runtime: Runtime, home: Home, shared: Arc<Shared>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(GATHER) => {}
            () = shared.wake.notified() => {}
        }
        if shared.waiting.lock().is_closed {
            return;
        }
        let mut taken = shared.take(runtime.now_ms()).await;
        let progress = taken.progress.take();
        let drafts = taken.stored();
        if drafts.is_empty() && progress.is_none() {
            let mut waiting = shared.waiting.lock();
            // Something may have been said while this waited for its turn.
            if waiting.is_empty() {
                waiting.is_flushing = false;
                return;
            }
            continue;
        }
        let mut commit = home.fenced(progress, runtime.now_ms()).await;
        if !drafts.is_empty() {
            commit = commit.and(Change::Append(home.append(drafts)));
        }
        if let Err(error) = runtime.commit(commit).await {
            tracing::debug!(job = %home.id(), %error, "what a job said could not be stored");
        }
    }
}
