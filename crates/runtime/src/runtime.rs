//! The runtime itself: what all its parts share, and its beginning and end.

use std::{sync::Arc, time::Duration};

use futures::FutureExt;
use riverrun_contract::{Handler, Services, Work, compute};
use riverrun_engine::Issue;
use riverrun_expr::Sandbox;
use riverrun_store::{Change, Commit, Hub, LocalBus, Receipt, Reclaimed, Store, Then, Writer};
use riverrun_types::{Millis, flow::canonical_definition};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Clock, Compiled, Error, FlowEntry, Handlers, Options, RegisteredFlow, Result,
    cache::{News, RunCache},
    crashes::{self, Alone, Beginning},
    flows::Flows,
    leases::{self, Leases},
    listen::Listeners,
    once::KeyLocks,
    queues::{self, Broken, Calls, JobStats, Keeper, Processes, Redrives, Reserved, Rooms, Stock},
    run_tasks,
    steps::{self, Filters, LoadedCode, Mailboxes},
    sweep,
};

/// A handle to a running riverrun; clones share it.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn Store>,
    bus: Arc<Hub>,
    writer: Writer,
    flows: Arc<Flows>,
    handlers: Arc<Handlers>,
    services: Services,
    cache: RunCache,
    options: Options,
    drivers: Arc<Semaphore>,
    taking: Arc<Semaphore>,
    leases: Leases,
    processes: Processes,
    keeper: Keeper,
    rooms: Rooms,
    stock: Stock,
    redrives: Arc<Redrives>,
    calls: Calls,
    broken: Broken,
    job_stats: JobStats,
    mailboxes: Mailboxes,
    filters: Filters,
    loaded_code: LoadedCode,
    key_locks: KeyLocks,
    alone: Alone,
    listeners: Listeners,
    shutdown: CancellationToken,
    tasks: TaskTracker,
}

impl Runtime {
    /// Takes up work on a store: reclaims what a dead owner held, and starts to claim.
    pub async fn open(
        store: Arc<dyn Store>,
        sandbox: Arc<Sandbox>,
        handlers: impl IntoIterator<Item = Arc<dyn Handler>>,
        options: Options,
    ) -> Result<Self> {
        let options = Options {
            clock: options.clock.of(store.clone()),
            ..options
        };
        let beginning = Beginning::of(&*store).await?;
        let reclaimed = store.reclaim().await?;
        if reclaimed != Reclaimed::default() {
            let (runs, jobs) = (reclaimed.runs.len(), reclaimed.jobs.len());
            tracing::info!(runs, jobs, "took up what was under way at the last stop");
        }
        let careful_with = beginning.careful_with(reclaimed);
        let bus = Arc::new(Hub::new(Arc::new(LocalBus), options.live_total_bytes));
        let handlers = Handlers::new(handlers).keeping(options.retention.emits_ms);
        let handlers = Arc::new(handlers);
        let flows = Arc::new(Flows::load(&*store, handlers.clone()).await?);
        let runtime = Self {
            inner: Arc::new(Inner {
                writer: Writer::spawn(store.clone(), bus.clone()),
                services: Services {
                    sandbox,
                    flows: flows.clone(),
                },
                cache: RunCache::new(options.cached_runs),
                drivers: Arc::new(Semaphore::new(
                    options.max_drivers.min(Options::MAX_DRIVERS),
                )),
                taking: Arc::new(Semaphore::new(run_tasks::MOST as usize)),
                leases: Leases::default(),
                processes: Processes::default(),
                keeper: Keeper::default(),
                rooms: Rooms::default(),
                stock: Stock::default(),
                redrives: Arc::default(),
                calls: Calls::default(),
                broken: Broken::default(),
                job_stats: JobStats::default(),
                mailboxes: Mailboxes::default(),
                filters: Filters::default(),
                loaded_code: LoadedCode::default(),
                key_locks: KeyLocks::default(),
                alone: Alone::new(careful_with, beginning.starts.crashes),
                listeners: Listeners::default(),
                shutdown: CancellationToken::new(),
                tasks: TaskTracker::new(),
                store,
                bus,
                flows,
                handlers,
                options,
            }),
        };
        let crashes = beginning.starts.crashes;
        runtime.begin_carefully(beginning).await?;
        if crashes > 0 {
            let lasted = runtime.options().lasting;
            runtime.spawn(crashes::forget(runtime.clone(), lasted));
        }
        runtime.spawn(run_tasks::claim(runtime.clone()));
        runtime.spawn(leases::heartbeat(runtime.clone()));
        runtime.spawn(sweep::sweep(runtime.clone()));
        runtime.spawn(queues::keep(runtime.clone()));
        runtime.spawn(queues::reap(runtime.clone()));
        runtime.spawn(steps::read_outbox(runtime.clone()));
        runtime.spawn(steps::release_fitting(runtime.clone()));
        Ok(runtime)
    }

    /// Stops taking up work, lets running attempts finish for a while, hands every lease back and
    /// closes the store.
    pub async fn shutdown(&self) -> Result<()> {
        self.inner.shutdown.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
        self.inner.listeners.clear();
        crashes::stopped(self.store()).await;
        Ok(self.inner.store.close().await?)
    }

    /// Resolves when a shutdown has begun.
    pub async fn stopping(&self) {
        self.inner.shutdown.cancelled().await;
    }

    pub fn is_stopping(&self) -> bool {
        self.inner.shutdown.is_cancelled()
    }

    pub fn store(&self) -> &dyn Store {
        &*self.inner.store
    }

    pub fn bus(&self) -> &Arc<Hub> {
        &self.inner.bus
    }

    pub fn handlers(&self) -> &Handlers {
        &self.inner.handlers
    }

    pub fn services(&self) -> &Services {
        &self.inner.services
    }

    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// Everything that is wrong with a definition, as far as is listed.
    pub fn validate(&self, definition: &Value) -> Vec<Issue> {
        let issues = compute(Work::Long, || self.definition_issues(definition));
        self.without_taken(definition, issues)
    }

    /// Registers a definition for ever under its id and version.
    pub async fn register(&self, definition: &Value) -> Result<RegisteredFlow> {
        let (definition, issues) = compute(Work::Long, || {
            let issues = self.definition_issues(definition);
            (canonical_definition(definition.clone()), issues)
        });
        let flows = &self.inner.flows;
        let mut registered = flows
            .register(&self.inner.writer, &definition, issues, self.now_ms())
            .await?;
        registered.issues = self.without_taken(&definition, registered.issues);
        Ok(registered)
    }

    /// A registered version of a flow, the newest without one.
    pub fn flow(&self, id: &str, version: Option<&str>) -> Option<FlowEntry> {
        self.inner.flows.get(id, version)
    }

    /// The newest version of every flow, by id.
    pub fn flows(&self) -> Vec<FlowEntry> {
        self.inner.flows.latest()
    }

    /// All versions of a flow, newest first.
    pub fn versions(&self, id: &str) -> Vec<FlowEntry> {
        self.inner.flows.versions(id)
    }

    /// What tells this runtime the time.
    pub fn clock(&self) -> &Clock {
        &self.inner.options.clock
    }

    /// The time by the runtime's clock.
    pub fn now_ms(&self) -> Millis {
        self.clock().now_ms()
    }

    pub(crate) async fn compiled(&self, id: &str, version: Option<&str>) -> Result<Arc<Compiled>> {
        let compiled = self.inner.flows.compiled(self.store(), id, version).await;
        compiled.map_err(|error| self.broken().perhaps_not_made(error))
    }

    pub(crate) fn cache(&self) -> &RunCache {
        &self.inner.cache
    }

    pub(crate) fn leases(&self) -> &Leases {
        &self.inner.leases
    }

    pub(crate) fn processes(&self) -> &Processes {
        &self.inner.processes
    }

    pub(crate) fn broken(&self) -> &Broken {
        &self.inner.broken
    }

    pub(crate) fn calls(&self) -> &Calls {
        &self.inner.calls
    }

    pub(crate) fn rooms(&self) -> &Rooms {
        &self.inner.rooms
    }

    pub(crate) fn stock(&self) -> &Stock {
        &self.inner.stock
    }

    pub(crate) fn keeper(&self) -> &Keeper {
        &self.inner.keeper
    }

    pub(crate) fn redrives(&self) -> &Arc<Redrives> {
        &self.inner.redrives
    }

    pub(crate) fn key_locks(&self) -> &KeyLocks {
        &self.inner.key_locks
    }

    pub(crate) fn alone(&self) -> &Alone {
        &self.inner.alone
    }

    pub(crate) fn loaded_code(&self) -> &LoadedCode {
        &self.inner.loaded_code
    }

    pub(crate) fn mailboxes(&self) -> &Mailboxes {
        &self.inner.mailboxes
    }

    pub(crate) fn await_filters(&self) -> &Filters {
        &self.inner.filters
    }

    pub(crate) fn all_listeners(&self) -> &Listeners {
        &self.inner.listeners
    }

    pub(crate) fn job_stats(&self) -> &JobStats {
        &self.inner.job_stats
    }

    /// Resolves when a shutdown has begun and the time that it gives running attempts is over.
    pub(crate) async fn grace_over(&self) {
        self.stopping().await;
        tokio::time::sleep(self.options().grace).await;
    }

    pub(crate) fn drivers(&self) -> &Arc<Semaphore> {
        &self.inner.drivers
    }

    /// The room for runs that are being taken up.
    pub(crate) fn taking(&self) -> &Arc<Semaphore> {
        &self.inner.taking
    }

    /// Writes what somebody beside the runtime has decided, such as about a trigger.
    pub async fn commit(&self, commit: Commit) -> riverrun_store::Result<Receipt> {
        self.commit_knowing(commit, None).await
    }

    /// Writes a decision about a run. What is known of the run once it is durable is known here
    /// before anybody hears of it, and before jobs that begin at once ask.
    pub(crate) async fn commit_knowing(
        &self,
        mut commit: Commit,
        news: Option<News>,
    ) -> riverrun_store::Result<Receipt> {
        let fresh = news.as_ref().filter(|news| news.is_fresh);
        for change in &commit.changes {
            // An earlier run of this id may have been swept away and still be known here.
            if let Change::Create(new) = change
                && fresh.is_none_or(|fresh| fresh.run != new.id)
            {
                self.cache().forget(&new.id);
            }
        }
        let then = self.then(self.reserve(&mut commit), news);
        self.inner.writer.commit_then(commit, then).await
    }

    /// What follows from a commit once it is durable.
    fn then(&self, reserved: Option<Reserved>, news: Option<News>) -> Option<Then> {
        if reserved.is_none() && news.is_none() {
            return None;
        }
        let runtime = self.clone();
        Some(Box::new(move |receipt: &Receipt| {
            if let Some(news) = news {
                let read = news.reader.map(|reader| (news.run.clone(), reader));
                runtime.cache().learn(news, receipt);
                // Before jobs begin: whoever ends one of them at once need not wait for somebody
                // who has nothing left to do here.
                if let Some((run, reader)) = read {
                    runtime.mailboxes().leave(&run, reader);
                }
            }
            if let Some(reserved) = reserved {
                runtime.begin(reserved, receipt);
            }
        }))
    }

    /// Runs a task that a shutdown waits for.
    pub fn spawn(
        &self,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> tokio::task::JoinHandle<()> {
        let busy = self.clock().busy();
        // A block that awaits the task would hold it twice, and it is copied on its way.
        self.inner.tasks.spawn(task.map(move |()| drop(busy)))
    }

    pub(crate) fn refuse_when_stopping(&self) -> Result<()> {
        if self.is_stopping() {
            Err(Error::ShuttingDown)
        } else {
            Ok(())
        }
    }
}

/// Waits for what others or time bring about; false when a shutdown began first.
pub(crate) async fn rest(runtime: &Runtime, waiting: impl Future<Output = ()>) -> bool {
    let goes_on = async {
        tokio::select! {
            () = waiting => true,
            () = runtime.stopping() => false,
        }
    };
    runtime.clock().rest(goes_on).await
}

/// Waits for trouble to pass, by the machine's time; false when a shutdown began.
pub(crate) async fn pause(runtime: &Runtime, time: Duration) -> bool {
    tokio::select! {
        () = tokio::time::sleep(time) => true,
        () = runtime.stopping() => false,
    }
}
