//! Those who want to hear of every emitted event of a kind, such as triggers that start flows.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_store::SignalRecord;

use crate::{Result, Runtime};

/// Somebody who is told of the signals in the outbox. A signal may come twice: whatever it leads
/// to must be the same the second time.
#[async_trait]
pub trait Listener: Send + Sync + 'static {
    async fn hear(&self, signal: &SignalRecord) -> Result<()>;
}

impl Runtime {
    /// Tells somebody of every signal from now on. Which kinds get into the outbox at all,
    /// [`riverrun_store::Change::Listen`] says.
    pub fn add_listener(&self, listener: Arc<dyn Listener>) {
        self.listeners_mut().push(listener);
    }
}
