//! Driving a run: from its claim to its end, or to the moment when it has to wait.
//!
//! A driver holds the run's lease. It runs steps without effects back to back in memory; before a
//! step with effects begins, and when the run ends or has to wait, the decisions so far become one
//! commit. State that is only in the driver may be lost: if it dies, the next driver that claims
//! the run goes on from the last commit.

mod advance;
mod attempt;
mod commit;
mod damaged;
mod reconcile;

use std::{collections::HashMap, sync::Arc};

use riverrun_contract::{Work, compute};
use riverrun_engine::{Decision, Input, RunState, VisitKey, decide};
use riverrun_store::{Change, ClaimedRunTask, Holder, NewAwait, RunRecord, RunTaskChange};
use riverrun_types::{Millis, Name, RunId, StreamName, event::EventContext};
use tokio::sync::OwnedSemaphorePermit;

use super::{Runs, cache::CachedRun, leases::Keep, load::Loaded};
use crate::{base::Result, flows::Compiled, streams::SignalSource};

pub(crate) use advance::Effectful;
pub(crate) use attempt::Attempts;
pub use commit::projection;
pub(crate) use commit::{Committed, SNAPSHOT_EVERY, record};
pub(crate) use damaged::damage;

/// One run under way.
pub(crate) struct Driver {
    pub(crate) runs: Runs,
    pub(crate) run: RunId,
    pub(crate) flow: Arc<Compiled>,
    pub(crate) context: EventContext,
    /// The fields that never change of the run's record, if known.
    record: Option<Arc<RunRecord>>,
    /// The state with all decisions so far, committed or not.
    pub(crate) state: Arc<RunState>,
    /// Decisions that the store knows of.
    pub(crate) turn: u64,
    /// The stream's length as the store knows it.
    pub(crate) stored_len: u64,
    /// The state may be behind the store's: a decision holds only if no event was appended since.
    is_from_memory: bool,
    /// A decision depends on the place of an event in the stream: it holds only if no event comes
    /// before it.
    pub(crate) has_placed: bool,
    /// The length that the latest snapshot covers, and its size.
    pub(crate) snapshot_len: u64,
    snapshot_bytes: usize,
    /// The size of the events committed since.
    since_snapshot_bytes: usize,
    /// Decided, not yet committed.
    pub(crate) pending: Decision,
    /// Outcomes of effects since the last commit: judged again if the commit is rejected, never
    /// lost.
    outcomes: Vec<Input>,
    /// Attempts with effects that begin once the commit that says so is durable.
    pub(crate) ready: Vec<(VisitKey, u32)>,
    /// Awaits of visits since the last commit, each with the number of `signals` before it.
    pub(crate) awaits: Vec<(usize, NewAwait)>,
    /// The signals that the commit sends to awaits of events.
    pub(crate) signals: Vec<Change>,
    /// How often callbacks that wait for more were resumed, as far as this driver has seen.
    pub(crate) opened: HashMap<Name, u32>,
    /// The last signals of the outbox that were judged for awaits whose time is over.
    pub(crate) judged: HashMap<Name, u64>,
}

/// The driver's next action after a wait.
enum Next {
    GoOn,
    Stop,
}

/// The reason why a driver's wait ended.
enum Woken {
    Finished(Box<attempt::Finished>),
    Nudged,
    Due,
    Stopping,
}

impl Driver {
    /// A run that is not in a store yet.
    pub fn unborn(
        runs: Runs,
        run: RunId,
        flow: Arc<Compiled>,
        context: EventContext,
        begun: (RunState, Decision),
    ) -> Self {
        let (state, pending) = begun;
        Self {
            runs,
            run,
            flow,
            context,
            record: None,
            state: Arc::new(state),
            turn: 0,
            stored_len: 0,
            is_from_memory: false,
            has_placed: false,
            snapshot_len: 0,
            snapshot_bytes: 0,
            since_snapshot_bytes: 0,
            pending,
            outcomes: Vec::new(),
            ready: Vec::new(),
            awaits: Vec::new(),
            signals: Vec::new(),
            opened: HashMap::new(),
            judged: HashMap::new(),
        }
    }

    /// A run as the store knows it.
    pub fn of(runs: Runs, flow: Arc<Compiled>, loaded: Loaded) -> Self {
        let mut driver = Self::remembered(runs, flow, &loaded.record.id, loaded.known());
        driver.turn = loaded.record.turn;
        driver.is_from_memory = false;
        driver
    }

    /// A run as this server last saw it, for one decision.
    fn remembered(runs: Runs, flow: Arc<Compiled>, run: &RunId, known: CachedRun) -> Self {
        let begun = (RunState::new(), Decision::default());
        let mut driver = Self::unborn(runs, run.clone(), flow, known.context, begun);
        // A driver for a single decision takes snapshots too: at every so many events.
        driver.snapshot_len = known.state.len - known.state.len % commit::SNAPSHOT_EVERY;
        driver.stored_len = known.state.len;
        driver.state = known.state;
        driver.record = known.record;
        driver.is_from_memory = true;
        driver
    }

    /// The run as the cache knows it after this commit.
    pub(crate) fn known(&self) -> CachedRun {
        CachedRun {
            state: self.state.clone(),
            context: self.context.clone(),
            version: self.flow.plan.version.clone(),
            record: self.record.clone(),
        }
    }

    /// Drops the uncommitted decisions and goes on from the store's state.
    fn adopt(&mut self, loaded: Loaded) {
        self.turn = loaded.record.turn;
        self.stored_len = loaded.state.len;
        self.state = loaded.state;
        self.forget_pending();
        self.ready.clear();
    }

    /// The decisions so far are stored, or will never be.
    fn forget_pending(&mut self) {
        self.pending = Decision::default();
        self.has_placed = false;
        self.awaits.clear();
        self.signals.clear();
    }

    pub(crate) fn judge(&mut self, input: Input) {
        self.judge_at(input, self.runs.base().now_ms());
    }

    pub(crate) fn judge_at(&mut self, input: Input, now: Millis) {
        let emitted = usize::from(matches!(input, Input::Emitted { .. }));
        let state = Arc::make_mut(&mut self.state);
        // A decision checks writes against the state's schema.
        let plan = &self.flow.plan;
        let schema = plan.state_schema.as_ref();
        let work = schema.map_or(Work::Short, |schema| {
            let brought = input.value_bytes().unwrap_or(plan.limits.max_value_bytes);
            let bytes = state.state.bytes() + state.scope_bytes + brought;
            Work::on_schema_bytes(schema, bytes)
        });
        let decision = compute(work, || decide(plan, state, &self.run, input, now));
        let from = self.pending.events.len() + emitted;
        self.pending.extend(decision);
        // A run that ends first emits the events it still has to emit.
        if self.state.status.is_ended() {
            self.tell(from);
        }
    }

    /// Signals the awaits of events about the decisions from a place on.
    pub(crate) fn tell(&mut self, from: usize) {
        let stream = StreamName::flow(&self.run);
        let source = SignalSource {
            stream: &stream,
            context: &self.context,
            correlation: self.state.correlation.as_ref(),
            chain: self.state.chain,
        };
        let events = self.pending.events.get(from..).unwrap_or_default();
        let now = self.state.updated_ms;
        let signals = source.signals(events, from, now, |kind| self.flow.plan.subscribes_to(kind));
        self.signals.extend(signals);
    }

    /// The store has the run now, with all decisions so far.
    pub(crate) fn born(&mut self) {
        self.turn = 1;
        self.stored_len = self.state.len;
        self.forget_pending();
    }

    /// Goes on with a run that was just created: ready visits begin.
    pub(crate) async fn go_on(mut self, keep: Keep, holder: Holder) {
        let mut attempts = Attempts::default();
        self.launch(&mut attempts);
        self.drive(keep, holder, attempts, None).await;
    }

    fn launch(&mut self, attempts: &mut Attempts) {
        for (visit, attempt) in std::mem::take(&mut self.ready) {
            attempts.launch(self, visit, attempt);
        }
    }

    /// Drives until the run has ended, waits, or is claimed elsewhere. `taking` is released with
    /// the first decision.
    async fn drive(
        mut self,
        keep: Keep,
        holder: Holder,
        mut attempts: Attempts,
        mut taking: Option<OwnedSemaphorePermit>,
    ) {
        loop {
            self.advance(Effectful::Begin).await;
            let task = self.run_task_change(&attempts);
            if task != RunTaskChange::Keep || !self.pending.is_empty() {
                match self.commit(keep.lease(), task).await {
                    Committed::Done if task != RunTaskChange::Keep => return,
                    Committed::Done => {}
                    Committed::Moved => {
                        attempts.retain(&self.state);
                        continue;
                    }
                    Committed::Gone => return,
                }
            }
            drop(taking.take());
            self.launch(&mut attempts);
            if self.has_more() {
                continue;
            }
            match self.wait(&keep, &holder, &mut attempts).await {
                Next::GoOn => {}
                Next::Stop => return,
            }
        }
    }

    fn run_task_change(&self, attempts: &Attempts) -> RunTaskChange {
        if self.state.status.is_ended() {
            RunTaskChange::Finish
        } else if attempts.is_empty() && self.ready.is_empty() && !self.has_more() {
            RunTaskChange::Park {
                at_ms: self.state.wake_ms(),
            }
        } else {
            RunTaskChange::Keep
        }
    }

    /// Waits until an attempt ends, another task moves the run, or time passes.
    async fn wait(&mut self, keep: &Keep, holder: &Holder, attempts: &mut Attempts) -> Next {
        let clock = self.runs.base().clock();
        let woken = async {
            tokio::select! {
                finished = attempts.next() => Woken::Finished(Box::new(finished)),
                () = holder.nudged() => Woken::Nudged,
                () = clock.sleep_until(self.state.wake_ms()) => Woken::Due,
                () = self.runs.base().stopping() => Woken::Stopping,
            }
        };
        match clock.rest(woken).await {
            Woken::Finished(finished) => {
                self.finished(*finished);
                Next::GoOn
            }
            Woken::Nudged if keep.is_lost() => Next::Stop,
            Woken::Nudged => self.look_again(attempts).await,
            Woken::Due => Next::GoOn,
            Woken::Stopping => {
                self.hand_back(keep, attempts).await;
                Next::Stop
            }
        }
    }

    fn finished(&mut self, attempt: attempt::Finished) {
        let attempt::Finished {
            visit,
            attempt,
            outcome,
            events,
            going: _,
        } = attempt;
        let running = self
            .state
            .visit(&visit)
            .is_some_and(|known| known.attempt == attempt);
        if running {
            self.record(&visit, attempt, events);
        }
        let input = Input::Finished {
            visit,
            attempt,
            outcome,
            jitter: rand::random(),
            retry: None,
        };
        self.outcomes.push(input.clone());
        self.judge(input);
    }

    /// Gives running attempts a while to end, then releases the lease.
    async fn hand_back(&mut self, keep: &Keep, attempts: &mut Attempts) {
        let grace = tokio::time::sleep(self.runs.base().options().grace);
        tokio::pin!(grace);
        while !attempts.is_empty() {
            tokio::select! {
                finished = attempts.next() => self.finished(finished),
                () = &mut grace => break,
            }
        }
        let task = if self.state.status.is_ended() {
            RunTaskChange::Finish
        } else {
            RunTaskChange::Park {
                at_ms: self.state.wake_ms().min(self.runs.base().now_ms()),
            }
        };
        self.commit(keep.lease(), task).await;
    }
}

/// Drives a run that was claimed.
pub(crate) async fn take_up(runs: Runs, claimed: ClaimedRunTask, taking: OwnedSemaphorePermit) {
    let run = claimed.lease.run.clone();
    let keep = runs.keep(claimed.lease);
    let holder = runs.base().hub().hold(&run);
    let Some(opened) = commit::until_stored(&runs, || open(&runs, &run)).await else {
        return;
    };
    match opened {
        Ok(mut driver) => {
            driver.judge(Input::Lost);
            driver.reconcile().await;
            let attempts = Attempts::default();
            driver.drive(keep, holder, attempts, Some(taking)).await;
        }
        Err(error) => {
            if let Some(damage) = damaged::damage(&error) {
                return damaged::park(&runs, &run, keep.lease(), damage).await;
            }
            tracing::error!(%run, %error, "the run cannot be driven");
            commit::fail_without_plan(&runs, &run, keep.lease(), &error).await;
        }
    }
}

/// Opens a run for one decision without reading the store, if it is cached.
pub(crate) async fn reopen(runs: &Runs, run: &RunId) -> Result<Driver> {
    let Some(known) = runs.cache().get(run) else {
        return Box::pin(open(runs, run)).await;
    };
    let flow = &known.context.flow_name;
    let flow = runs.flows().compiled(flow, Some(&known.version)).await?;
    Ok(Driver::remembered(runs.clone(), flow, run, known))
}

pub(crate) async fn open(runs: &Runs, run: &RunId) -> Result<Driver> {
    let loaded = runs.load(run).await?;
    let version = loaded.record.version.clone();
    let flow = runs
        .flows()
        .compiled(&loaded.record.flow, Some(&version))
        .await?;
    Ok(Driver::of(runs.clone(), flow, loaded))
}
