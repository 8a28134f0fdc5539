//! Listeners to every emitted event of a kind, such as triggers that start flows.

use std::{collections::HashSet, sync::Arc};

use async_trait::async_trait;
use parking_lot::RwLock;
use riverrun_engine::Issue;
use riverrun_store::SignalRecord;
use riverrun_types::EventType;
use serde_json::Value;
use tokio::sync::Notify;

use crate::{base::Error, runtime::Runtime};

/// Receives the signals of the outbox of the kinds that it listens to
/// ([`riverrun_store::Change::Listen`]).
#[async_trait]
pub trait Listener: Send + Sync {
    /// Takes note of a signal. It may be delivered again after a crash or a failure, so its effect
    /// must be idempotent. After a failure the signal is delivered again later.
    async fn on_signal(&self, signal: &SignalRecord) -> Result<(), Error>;

    /// Whether it does anything about events of a kind.
    fn wants(&self, kind: &str) -> bool;
}

/// The listeners of a runtime.
#[derive(Default)]
pub(crate) struct Listeners {
    all: RwLock<Vec<Arc<dyn Listener>>>,
    /// The kinds that the engine writes and a listener wants.
    engine_kinds: RwLock<Arc<HashSet<EventType>>>,
    /// One has come.
    come: Notify,
}

impl Listeners {
    /// Lets go of all of them: they hold the runtime, which holds them.
    pub(crate) fn clear(&self) {
        self.all.write().clear();
    }
}

impl Runtime {
    /// Delivers every signal to a listener from now on.
    pub fn add_listener(&self, listener: Arc<dyn Listener>) {
        let listeners = self.all_listeners();
        listeners.all.write().push(listener);
        listeners.come.notify_one();
    }

    /// Resolves when somebody listens, if somebody is to.
    pub(crate) async fn listened_to(&self) {
        if self.options().has_listener && self.listeners().is_empty() {
            self.all_listeners().come.notified().await;
        }
    }

    /// What is said of a definition, without warnings of events that nobody in the flow takes but
    /// somebody who listens does.
    pub(crate) fn without_taken(&self, definition: &Value, mut issues: Vec<Issue>) -> Vec<Issue> {
        let listeners = self.listeners();
        issues.retain(|issue| {
            let kind = (issue.rule == "emit-unheard").then(|| emitted(definition, &issue.path));
            let kind = kind.flatten();
            !kind.is_some_and(|kind| listeners.iter().any(|listener| listener.wants(kind)))
        });
        issues
    }

    /// Delivers events that the engine writes to the listeners, from now on: all of these kinds,
    /// and no others.
    pub fn listen_to_engine(&self, kinds: HashSet<EventType>) {
        *self.all_listeners().engine_kinds.write() = Arc::new(kinds);
    }

    pub(crate) fn engine_kinds(&self) -> Arc<HashSet<EventType>> {
        self.all_listeners().engine_kinds.read().clone()
    }

    pub(crate) fn listeners(&self) -> Vec<Arc<dyn Listener>> {
        self.all_listeners().all.read().clone()
    }
}

/// The kind of event at a path such as `steps.order.emits.0`.
fn emitted<'a>(definition: &'a Value, path: &str) -> Option<&'a str> {
    let (step, number) = path.strip_prefix("steps.")?.rsplit_once(".emits.")?;
    let emits = definition.get("steps")?.get(step)?.get("emits")?;
    emits.get(number.parse::<usize>().ok()?)?.as_str()
}
