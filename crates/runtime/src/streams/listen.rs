//! Listeners to every emitted event of a kind, such as triggers that start flows.

use std::{collections::HashSet, sync::Arc};

use async_trait::async_trait;
use parking_lot::RwLock;
use riverrun_store::SignalRecord;
use riverrun_types::EventType;
use tokio::sync::Notify;

use super::Streams;
use crate::base::Error;

/// Receives the signals of the outbox of the kinds that it listens to
/// ([`riverrun_store::Change::Listen`]).
#[async_trait]
pub trait Listener: Send + Sync {
    /// Handles a signal. It may be delivered again after a crash or a failure, so its effect must
    /// be idempotent. After a failure the signal is delivered again later.
    async fn on_signal(&self, signal: &SignalRecord) -> Result<(), Error>;

    /// Whether it handles events of a kind.
    fn wants(&self, kind: &str) -> bool;
}

/// The listeners of a runtime.
#[derive(Default)]
pub(super) struct Listeners {
    all: RwLock<Vec<Arc<dyn Listener>>>,
    /// The kinds that the engine writes and a listener wants.
    engine_kinds: RwLock<Arc<HashSet<EventType>>>,
    /// Notified when a listener was added.
    come: Notify,
}

impl Streams {
    /// Delivers every signal to a listener from now on.
    pub fn add_listener(&self, listener: Arc<dyn Listener>) {
        let listeners = self.all_listeners();
        listeners.all.write().push(listener);
        listeners.come.notify_one();
    }

    /// Delivers events that the engine writes to the listeners, from now on: all of these kinds,
    /// and no others.
    pub fn listen_to_engine(&self, kinds: HashSet<EventType>) {
        *self.all_listeners().engine_kinds.write() = Arc::new(kinds);
    }

    /// Resolves when a listener was added, if one is expected.
    pub(crate) async fn listened_to(&self) {
        if self.base().options().has_listener && self.listeners().is_empty() {
            self.all_listeners().come.notified().await;
        }
    }

    /// Whether a listener handles events of a kind.
    pub(crate) fn is_listened_to(&self, kind: &str) -> bool {
        let listeners = self.listeners();
        listeners.iter().any(|listener| listener.wants(kind))
    }

    pub(crate) fn listeners(&self) -> Vec<Arc<dyn Listener>> {
        self.all_listeners().all.read().clone()
    }

    /// Drops all of them: they hold the runtime, which holds them.
    pub(crate) fn clear_listeners(&self) {
        self.all_listeners().all.write().clear();
    }

    pub(super) fn engine_kinds(&self) -> Arc<HashSet<EventType>> {
        self.all_listeners().engine_kinds.read().clone()
    }
}
