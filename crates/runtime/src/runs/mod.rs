//! Runs from their start to their end.
//!
//! A run begins in `start`, or as a copy (`copy`, `import`). The holder of its task's lease drives
//! it (`drive`, `claim`, `leases`); others send messages to its mailbox (`mailbox`) or decide
//! without its lease (`control`). `orders`, `awaits`, `declared` and `subscriptions` derive the
//! further effects of a decision, and all of it becomes one `commit`. `load` and `cache` hold the
//! states of runs, `reads` and `shown` present them.

mod append;
mod awaits;
mod cache;
mod claim;
mod commit;
mod control;
mod copy;
mod declared;
mod drive;
mod import;
mod leases;
mod load;
mod mailbox;
mod orders;
mod reads;
mod request;
mod shown;
mod start;
mod subscriptions;

pub(crate) use cache::CachedRun;
pub(crate) use claim::claim;
pub(crate) use drive::damage;
pub use drive::projection;
pub use import::{Exported, ExportedAwait, ExportedEvent, ExportedRun};
pub(crate) use leases::heartbeat;
pub use load::Loaded;
pub(crate) use mailbox::{Fence, Message};
pub use reads::{At, RunView};
pub use request::TRIGGER_KEYS;
pub use shown::Shown;
pub use start::{StartRequest, Started};

use std::sync::Arc;

use riverrun_types::RunId;
use tokio::sync::Semaphore;

use cache::RunCache;
use leases::Leases;
use mailbox::Mailboxes;

use crate::{
    awaits::Awaits,
    base::{Base, Options},
    crashes::Alone,
    flows::Flows,
    queues::Dispatcher,
    streams::Streams,
};

/// The runs, and this server's cache of them; clones share it.
#[derive(Clone)]
pub struct Runs {
    inner: Arc<Inner>,
}

struct Inner {
    base: Base,
    alone: Arc<Alone>,
    flows: Flows,
    streams: Streams,
    awaits: Awaits,
    dispatcher: Dispatcher,
    cache: RunCache,
    leases: Leases,
    mailboxes: Mailboxes,
    drivers: Arc<Semaphore>,
    taking: Arc<Semaphore>,
}

impl Runs {
    /// `dispatcher` starts the jobs of steps.
    pub(crate) fn new(
        base: Base,
        alone: Arc<Alone>,
        flows: Flows,
        streams: Streams,
        awaits: Awaits,
        dispatcher: Dispatcher,
    ) -> Self {
        let options = base.options();
        let drivers = options.max_drivers.min(Options::MAX_DRIVERS);
        Self {
            inner: Arc::new(Inner {
                cache: RunCache::new(options.cached_runs),
                leases: Leases::default(),
                mailboxes: Mailboxes::default(),
                drivers: Arc::new(Semaphore::new(drivers)),
                taking: Arc::new(Semaphore::new(claim::MOST as usize)),
                base,
                alone,
                flows,
                streams,
                awaits,
                dispatcher,
            }),
        }
    }

    /// Whether this server drives as many runs as it may.
    pub(crate) fn is_full(&self) -> bool {
        self.drivers().available_permits() == 0
    }

    /// A run as this server last saw it.
    pub(crate) fn known(&self, run: &RunId) -> Option<CachedRun> {
        self.cache().get(run)
    }

    fn base(&self) -> &Base {
        &self.inner.base
    }

    fn alone(&self) -> &Alone {
        &self.inner.alone
    }

    fn flows(&self) -> &Flows {
        &self.inner.flows
    }

    fn streams(&self) -> &Streams {
        &self.inner.streams
    }

    fn all_awaits(&self) -> &Awaits {
        &self.inner.awaits
    }

    fn dispatcher(&self) -> &Dispatcher {
        &self.inner.dispatcher
    }

    fn cache(&self) -> &RunCache {
        &self.inner.cache
    }

    fn leases(&self) -> &Leases {
        &self.inner.leases
    }

    fn mailboxes(&self) -> &Mailboxes {
        &self.inner.mailboxes
    }

    /// The limit of runs that are driven at once.
    fn drivers(&self) -> &Arc<Semaphore> {
        &self.inner.drivers
    }

    /// The limit of runs between claim and first commit.
    fn taking(&self) -> &Arc<Semaphore> {
        &self.inner.taking
    }
}
