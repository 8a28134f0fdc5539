//! Those who want to hear of every emitted event of a kind, such as triggers that start flows.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::RwLock;
use riverrun_store::SignalRecord;
use tokio::sync::Notify;

use crate::{Error, Runtime};

/// Hears the signals of the outbox of the kinds that somebody listens to
/// ([`riverrun_store::Change::Listen`]).
#[async_trait]
pub trait Listener: Send + Sync {
    /// Takes note of a signal. It may be told again after a crash or a failure, so whatever is
    /// done about it must be done once. A failure lets the signal be told again later.
    async fn hear(&self, signal: &SignalRecord) -> Result<(), Error>;
}

/// The listeners of a runtime.
#[derive(Default)]
pub(crate) struct Listeners {
    all: RwLock<Vec<Arc<dyn Listener>>>,
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
    /// Tells a listener every signal from now on.
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

    pub(crate) fn listeners(&self) -> Vec<Arc<dyn Listener>> {
        self.all_listeners().all.read().clone()
    }
}
