//! The frames of the handler of a job or a call: gathered for a moment and stored together in one
//! commit. The rest is stored with the outcome when it ends, and the waiting frames are stored
//! with, and before, a durable request.

use std::sync::Arc;

use riverrun_contract::LogLimit;
use riverrun_store::Change;
use riverrun_types::{Draft, Json};
use tokio::sync::Notify;

use super::{
    gathered::{GATHER, Gathered, GatheredBatch},
    home::Home,
};
use crate::base::Base;

pub(super) struct Said {
    base: Base,
    home: Home,
    shared: Arc<Shared>,
}

struct Shared {
    gathered: Gathered,
    wake: Notify,
}

impl Said {
    pub fn new(base: Base, home: Home, limit: LogLimit) -> Self {
        let shared = Shared {
            gathered: Gathered::new(base.clone(), limit),
            wake: Notify::new(),
        };
        Self {
            base,
            home,
            shared: Arc::new(shared),
        }
    }

    pub fn say(&self, draft: Draft, progress: Option<Json>) {
        if self.shared.gathered.waiting().say(draft, progress) {
            let flush = flush(self.base.clone(), self.home.clone(), self.shared.clone());
            tokio::spawn(flush);
        }
    }

    /// Takes the waiting frames, to be stored with something else.
    pub async fn take(&self) -> GatheredBatch<'_> {
        self.shared.gathered.take().await
    }

    /// Waits until earlier requests are stored.
    pub async fn settled(&self) {
        self.shared.gathered.settled().await;
    }

    /// The frames that are not stored yet; later frames are dropped.
    pub async fn close(&self) -> (Vec<Draft>, Option<Json>) {
        self.shared.gathered.end();
        self.shared.wake.notify_one();
        self.shared.gathered.rest().await
    }

    pub fn is_closed(&self) -> bool {
        self.shared.gathered.is_closed()
    }
}

/// Stores frames while the handler runs.
async fn flush(base: Base, home: Home, shared: Arc<Shared>) {
    let gathered = &shared.gathered;
    loop {
        tokio::select! {
            () = tokio::time::sleep(GATHER) => {}
            () = shared.wake.notified() => {}
        }
        if gathered.is_closed() {
            return;
        }
        let mut taken = gathered.take().await;
        let progress = taken.progress.take();
        let drafts = taken.stored();
        if drafts.is_empty() && progress.is_none() {
            let mut waiting = gathered.waiting();
            // A frame may have arrived while this waited for its turn.
            if waiting.is_empty() {
                waiting.is_flushing = false;
                return;
            }
            continue;
        }
        let mut commit = home.fenced(progress, base.now_ms()).await;
        if !drafts.is_empty() {
            commit = commit.and(Change::Append(home.append(drafts)));
        }
        if let Err(error) = base.commit(commit).await {
            tracing::debug!(job = %home.id(), %error, "frames of a job could not be stored");
        }
    }
}
