//! The runtime: it wires its parts together, opens them and shuts them down.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use futures::future::BoxFuture;
use riverrun_contract::Handler;
use riverrun_expr::Sandbox;
use riverrun_store::{ClaimedJob, Reclaimed, Store};
use riverrun_types::Name;

use crate::{
    awaits::{self, Awaits},
    base::{Base, Options, Result},
    compose::Composer,
    crashes::{self, Alone, Beginning},
    events::Events,
    flows::Flows,
    processes::Processes,
    quarantine::Quarantine,
    queues::{
        self, HandlerRuns, Queues, ReservedRoom, RunWish, StartedRun, StepAttempts, StepPlace,
    },
    runs::{self, Runs},
    steps::{self, Steps},
    streams::Streams,
    why::Reasons,
};

/// A handle to a running riverrun; clones share it.
#[derive(Clone)]
pub struct Runtime {
    parts: Arc<Parts>,
}

/// The parts, each built on some of those before it.
struct Parts {
    base: Base,
    processes: Arc<Processes>,
    alone: Arc<Alone>,
    streams: Streams,
    flows: Flows,
    awaits: Awaits,
    queues: Queues,
    runs: Runs,
    events: Events,
    steps: Steps,
    composer: Composer,
    reasons: Reasons,
}

impl Runtime {
    /// Starts work on a store: reclaims the leases of a dead owner, and begins to claim.
    pub async fn open(
        store: Arc<dyn Store>,
        sandbox: Arc<Sandbox>,
        handlers: impl IntoIterator<Item = Arc<dyn Handler>>,
        options: Options,
    ) -> Result<Self> {
        let beginning = Beginning::of(&*store).await?;
        let reclaimed = store.reclaim().await?;
        if reclaimed != Reclaimed::default() {
            let (runs, jobs) = (reclaimed.runs.len(), reclaimed.jobs.len());
            tracing::info!(runs, jobs, "reclaimed the work of the last server");
        }
        let careful_with = beginning.careful_with(reclaimed);
        let base = Base::new(store, sandbox, options);
        let crashes = beginning.starts.crashes;
        let alone = Arc::new(Alone::new(base.clone(), careful_with, crashes));
        let processes = Arc::new(Processes::default());
        let streams = Streams::new(base.clone());
        let flows = Flows::load(base.clone(), processes.clone(), streams.clone(), handlers).await?;
        let wire = |parts: &Weak<Parts>| Parts::wire(parts, base, processes, alone, streams, flows);
        let runtime = Self {
            parts: Arc::new_cyclic(wire),
        };
        runtime.begin(beginning).await?;
        Ok(runtime)
    }

    /// Parks work that may kill the server, then begins the work of the parts.
    async fn begin(&self, beginning: Beginning) -> Result<()> {
        let Parts {
            base, alone, runs, ..
        } = &*self.parts;
        let crashes = beginning.starts.crashes;
        let quarantine = Quarantine::new(base.clone(), alone.clone(), runs.clone());
        quarantine.begin_carefully(beginning).await?;
        if crashes > 0 {
            base.spawn(alone.clone().forget(base.options().lasting));
        }
        base.spawn(runs::claim(runs.clone()));
        base.spawn(runs::heartbeat(runs.clone()));
        base.spawn(base.clone().sweep());
        base.spawn(queues::keep(self.queues().clone()));
        base.spawn(queues::reap(self.queues().clone()));
        base.spawn(awaits::read_outbox(self.awaits().clone()));
        base.spawn(steps::release_fitting(self.steps().clone()));
        base.spawn(hold(self.clone()));
        Ok(())
    }

    /// Claims no more work, lets running attempts finish for a while, releases every lease and
    /// closes the store.
    pub async fn shutdown(&self) -> Result<()> {
        let base = self.base();
        base.stop().await;
        self.streams().clear_listeners();
        crashes::stopped(base.store()).await;
        Ok(base.store().close().await?)
    }

    /// The store, the bus, the clock and the options.
    pub fn base(&self) -> &Base {
        &self.parts.base
    }

    /// The known processes.
    pub fn processes(&self) -> &Processes {
        &self.parts.processes
    }

    /// Readers of streams, and listeners to events.
    pub fn streams(&self) -> &Streams {
        &self.parts.streams
    }

    /// The registered flows and the handlers of their steps.
    pub fn flows(&self) -> &Flows {
        &self.parts.flows
    }

    /// Callbacks, which are resumed from outside.
    pub fn awaits(&self) -> &Awaits {
        &self.parts.awaits
    }

    /// Queues, jobs and calls.
    pub fn queues(&self) -> &Queues {
        &self.parts.queues
    }

    /// Runs of flows.
    pub fn runs(&self) -> &Runs {
        &self.parts.runs
    }

    /// Where events from outside come in.
    pub fn events(&self) -> &Events {
        &self.parts.events
    }

    /// Steps of runs that processes run.
    pub fn steps(&self) -> &Steps {
        &self.parts.steps
    }

    /// Makes flows of processes.
    pub fn composer(&self) -> &Composer {
        &self.parts.composer
    }

    /// Why runs and jobs are where they are.
    pub fn reasons(&self) -> &Reasons {
        &self.parts.reasons
    }
}

impl Parts {
    /// `parts` is what these become: queues reach steps and runs through it, which stand on them.
    fn wire(
        parts: &Weak<Self>,
        base: Base,
        processes: Arc<Processes>,
        alone: Arc<Alone>,
        streams: Streams,
        flows: Flows,
    ) -> Self {
        let awaits = Awaits::new(streams.clone());
        let queues = Queues::new(
            base.clone(),
            processes.clone(),
            alone.clone(),
            streams.clone(),
            parts.clone(),
            parts.clone(),
        );
        let runs = Runs::new(
            base.clone(),
            alone.clone(),
            flows.clone(),
            streams.clone(),
            awaits.clone(),
            queues.dispatcher(),
        );
        Self {
            events: Events::new(streams.clone(), runs.clone()),
            steps: Steps::new(
                base.clone(),
                processes.clone(),
                flows.clone(),
                queues.clone(),
                runs.clone(),
            ),
            composer: Composer::new(processes.clone(), flows.clone(), queues.clone()),
            reasons: Reasons::new(
                base.clone(),
                processes.clone(),
                queues.clone(),
                runs.clone(),
            ),
            base,
            processes,
            alone,
            streams,
            flows,
            awaits,
            queues,
            runs,
        }
    }
}

impl StepAttempts for Parts {
    fn attempt(
        &self,
        job: ClaimedJob,
        place: StepPlace,
        room: ReservedRoom,
    ) -> BoxFuture<'static, ()> {
        let steps = self.steps.clone();
        Box::pin(async move {
            steps.attempt(&job, place).await;
            drop(room);
        })
    }

    fn give_up(&self, job: ClaimedJob, queue: Name, place: StepPlace) -> BoxFuture<'static, ()> {
        let steps = self.steps.clone();
        Box::pin(async move { steps.give_up(&job, &queue, &place).await })
    }
}

#[async_trait]
impl HandlerRuns for Parts {
    async fn start(&self, wish: RunWish) -> Result<StartedRun> {
        let started = self.runs.start(wish.into()).await?;
        Ok(StartedRun {
            run: started.run,
            created: started.created,
        })
    }
}

/// Keeps the parts until a shutdown, for jobs that reach steps and runs through them, even if every
/// handle was dropped.
async fn hold(runtime: Runtime) {
    runtime.base().rest(std::future::pending()).await;
}
