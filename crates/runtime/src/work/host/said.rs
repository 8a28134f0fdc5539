//! What a handler says: gathered for a moment, stored in one commit with whatever else was said.
//! What is left when it ends goes with the outcome, and what waits when the handler asks for
//! something durable goes with that, before it: the stream has things in the order in which they
//! were said.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use riverrun_store::Change;
use riverrun_types::{Draft, EventType, Json, Millis};
use serde_json::json;
use tokio::sync::Notify;

use super::home::Home;
use crate::Runtime;

/// How long what was said waits for more.
const GATHER: Duration = Duration::from_millis(50);
/// Frames that wait to be stored; more are dropped and counted.
const MAX_WAITING: usize = 4_096;

pub(super) struct Said {
    runtime: Runtime,
    home: Home,
    shared: Arc<Shared>,
}

#[derive(Default)]
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
        let later = std::mem::replace(&mut waiting.drafts, self.drafts);
        waiting.drafts.extend(later);
        waiting.progress = waiting.progress.take().or(self.progress);
    }
}

/// What waits to be stored.
#[derive(Default)]
struct Waiting {
    drafts: Vec<Draft>,
    progress: Option<Json>,
    dropped: usize,
    has_flusher: bool,
    is_closed: bool,
}

impl Said {
    pub fn new(runtime: Runtime, home: Home) -> Self {
        Self {
            runtime,
            home,
            shared: Arc::default(),
        }
    }

    pub fn say(&self, draft: Draft, progress: Option<Json>) {
        let mut waiting = self.shared.waiting.lock();
        if waiting.is_closed {
            return;
        }
        if waiting.drafts.len() >= MAX_WAITING {
            waiting.dropped += 1;
            return;
        }
        waiting.drafts.push(draft);
        waiting.progress = progress.or(waiting.progress.take());
        if !waiting.has_flusher {
            waiting.has_flusher = true;
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
        let taken = self.take().await;
        (taken.drafts, taken.progress)
    }

    pub fn is_closed(&self) -> bool {
        self.shared.waiting.lock().is_closed
    }
}

impl Waiting {
    fn take(&mut self, now_ms: Millis) -> (Vec<Draft>, Option<Json>) {
        if self.dropped > 0 {
            let dropped = std::mem::take(&mut self.dropped);
            let message =
                format!("{dropped} lines were dropped: the handler said more than can be stored");
            let draft = Draft::new(now_ms, EventType::LogWarn).data(json!({ "message": message }));
            self.drafts.push(draft);
        }
        (std::mem::take(&mut self.drafts), self.progress.take())
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
            if taken.0.is_empty() {
                waiting.has_flusher = false;
                return;
            }
            taken
        };
        let append = Change::Append(home.append(drafts));
        let commit = home.fenced(progress, runtime.now_ms()).await.and(append);
        if let Err(error) = runtime.commit(commit).await {
            tracing::debug!(job = %home.id(), %error, "what a job said could not be stored");
        }
    }
}
