//! What a handler says: gathered for a moment, stored in one commit with whatever else was said.
//! What is left when it ends goes with the outcome, and what waits when the handler asks for
//! something durable goes with that, before it: the stream has things in the order in which they
//! were said.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use riverrun_store::Change;
use riverrun_types::{Draft, Json};
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

/// What was taken to be stored. Nobody else stores anything meanwhile.
pub(super) struct Taken<'a> {
    shared: &'a Shared,
    pub drafts: Vec<Draft>,
    pub progress: Option<Json>,
    _storing: tokio::sync::MutexGuard<'a, ()>,
}

impl Taken<'_> {
    /// It could not be stored: it waits again, before what came later.
    pub fn put_back(self) {
        let mut waiting = self.shared.waiting.lock();
        waiting.put_back(self.drafts, self.progress);
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
        let storing = self.shared.storing.lock().await;
        let (drafts, progress) = self.shared.waiting.lock().take(self.runtime.now_ms());
        Taken {
            shared: &self.shared,
            drafts,
            progress,
            _storing: storing,
        }
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
        let _storing = shared.storing.lock().await;
        let (drafts, progress) = {
            let mut waiting = shared.waiting.lock();
            if waiting.is_closed {
                return;
            }
            let taken = waiting.take(runtime.now_ms());
            if taken.0.is_empty() && taken.1.is_none() {
                waiting.is_flushing = false;
                return;
            }
            taken
        };
        let mut commit = home.fenced(progress, runtime.now_ms()).await;
        if !drafts.is_empty() {
            commit = commit.and(Change::Append(home.append(drafts)));
        }
        if let Err(error) = runtime.commit(commit).await {
            tracing::debug!(job = %home.id(), %error, "what a job said could not be stored");
        }
    }
}
