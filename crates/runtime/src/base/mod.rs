//! The base of every part: the store and its writer, the hub, the clock, the options, and the tasks
//! with their shutdown. It knows neither runs nor queues.

mod clock;
mod error;
mod expressions;
mod metadata;
mod options;
mod sweep;

pub use clock::{Busy, Clock, SimulatedClock, Unsettled};
pub use error::{Error, Result};
pub(crate) use expressions::is_true;
pub(crate) use metadata::check_metadata;
pub use options::Options;

use std::{sync::Arc, time::Duration};

use futures::FutureExt;
use riverrun_expr::Sandbox;
use riverrun_store::{Commit, Hub, LocalBus, Receipt, Store, Then, Writer};
use riverrun_types::Millis;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The most events, or jobs, of one request: a commit of more would keep all others waiting.
pub const MAX_ITEMS: usize = 10_000;

/// The base of a runtime's parts; clones share it.
#[derive(Clone)]
pub struct Base {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn Store>,
    hub: Arc<Hub>,
    writer: Writer,
    sandbox: Arc<Sandbox>,
    options: Options,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl Base {
    pub(crate) fn new(store: Arc<dyn Store>, sandbox: Arc<Sandbox>, options: Options) -> Self {
        let options = Options {
            clock: options.clock.of(store.clone()),
            ..options
        };
        let hub = Arc::new(Hub::new(Arc::new(LocalBus), options.live_total_bytes));
        Self {
            inner: Arc::new(Inner {
                writer: Writer::spawn(store.clone(), hub.clone()),
                store,
                hub,
                sandbox,
                options,
                shutdown: CancellationToken::new(),
                tasks: TaskTracker::new(),
            }),
        }
    }

    pub fn store(&self) -> &dyn Store {
        &*self.inner.store
    }

    /// Live delivery to readers, workers and drivers.
    pub fn hub(&self) -> &Arc<Hub> {
        &self.inner.hub
    }

    /// Where expressions are evaluated.
    pub fn sandbox(&self) -> &Arc<Sandbox> {
        &self.inner.sandbox
    }

    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// The clock of this runtime.
    pub fn clock(&self) -> &Clock {
        &self.inner.options.clock
    }

    /// The time by the runtime's clock.
    pub fn now_ms(&self) -> Millis {
        self.clock().now_ms()
    }

    /// How long a lease lasts.
    pub(crate) fn lease_ms(&self) -> Millis {
        i64::try_from(self.options().lease.as_millis()).unwrap_or(i64::MAX)
    }

    /// Writes a commit that starts no jobs and decides on no run, such as a change of a trigger.
    /// Jobs that it adds wait for the worker of their queue.
    pub async fn commit(&self, commit: Commit) -> riverrun_store::Result<Receipt> {
        self.inner.writer.commit(commit).await
    }

    /// The same, and calls a function once the commit is durable, before the hub publishes it.
    pub(crate) async fn commit_then(
        &self,
        commit: Commit,
        then: Option<Then>,
    ) -> riverrun_store::Result<Receipt> {
        self.inner.writer.commit_then(commit, then).await
    }

    /// Runs a task that a shutdown waits for.
    pub fn spawn(
        &self,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> tokio::task::JoinHandle<()> {
        let busy = self.clock().busy();
        // A block that awaits the task would hold it twice, and would be copied when it is spawned.
        self.inner.tasks.spawn(task.map(move |()| drop(busy)))
    }

    /// Waits for an event that others or time bring about; false when a shutdown began first.
    pub(crate) async fn rest(&self, waiting: impl Future<Output = ()>) -> bool {
        let goes_on = async {
            tokio::select! {
                () = waiting => true,
                () = self.stopping() => false,
            }
        };
        self.clock().rest(goes_on).await
    }

    /// Waits before a retry, by the machine's time; false when a shutdown began.
    pub(crate) async fn pause(&self, time: Duration) -> bool {
        tokio::select! {
            () = tokio::time::sleep(time) => true,
            () = self.stopping() => false,
        }
    }

    /// Resolves when a shutdown has begun.
    pub async fn stopping(&self) {
        self.inner.shutdown.cancelled().await;
    }

    pub fn is_stopping(&self) -> bool {
        self.inner.shutdown.is_cancelled()
    }

    /// Resolves when a shutdown has begun and the time that it gives running attempts is over.
    pub(crate) async fn grace_over(&self) {
        self.stopping().await;
        tokio::time::sleep(self.options().grace).await;
    }

    pub(crate) fn refuse_when_stopping(&self) -> Result<()> {
        if self.is_stopping() {
            Err(Error::ShuttingDown)
        } else {
            Ok(())
        }
    }

    /// Begins the shutdown, and waits until all tasks have ended.
    pub(crate) async fn stop(&self) {
        self.inner.shutdown.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }
}
