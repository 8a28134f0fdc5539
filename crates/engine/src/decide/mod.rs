//! The decisions of the engine: one input in, the resulting events out.
//!
//! Every decision is made on a [`Decider`]: it holds the run's state and emits facts, and each fact
//! is applied to the state the moment it is emitted. No other code changes the state, so a replay
//! of the events gives the state that the decision was made on.

mod awaits;
mod check;
mod control;
mod ended;
mod events;
mod lost;
mod park;
mod step;
mod wait;

use riverrun_types::{Draft, Json, Millis, Name, Retry, RunId, VisitStatus, event::FlowStarted};

pub(crate) use wait::MAX_DEPTH;

use crate::{
    AwaitFor, Awaiting, Fact, Failure, Lineage, Outcome, Parked, Plan, RunState, Visit, VisitKey,
    Wait,
};

/// An input to a run.
#[derive(Clone, Debug)]
pub enum Input {
    /// An attempt of a runnable visit begins.
    Begin(VisitKey),
    /// The job of a visit has begun its n-th attempt. Earlier attempts without a report are lost.
    Began {
        visit: VisitKey,
        attempt: u32,
        /// When the attempt began.
        at_ms: Millis,
    },
    /// The running attempt has ended. One that is no longer running changes nothing.
    Finished {
        visit: VisitKey,
        attempt: u32,
        outcome: Outcome,
        jitter: f64,
        /// The retry policy of a step without one.
        retry: Option<Retry>,
    },
    /// The child run that a visit waits for has ended.
    ChildEnded {
        visit: VisitKey,
        run: RunId,
        result: Result<Json, Failure>,
    },
    /// A visit that has not begun waits as its definition says.
    Await {
        visit: VisitKey,
        awaiting: Awaiting,
    },
    /// A visit that has not begun cannot wait: it fails.
    Refused {
        visit: VisitKey,
        failure: Failure,
    },
    /// The await of a visit was fired.
    Settled {
        visit: VisitKey,
        /// The id of the await: one that the visit does not wait for any more changes nothing.
        id: Name,
        value: Json,
        reason: String,
    },
    /// An await timed out, after it was fired less often than required.
    Late {
        visit: VisitKey,
        id: Name,
        so_far: Json,
    },
    /// An event was emitted, and these steps are entered because of it.
    Emitted {
        /// Of a type without a meaning of its own, or `emit`.
        event: Box<Draft>,
        entries: Vec<Entry>,
    },
    /// Time has passed: waits and the deadline may be over.
    Due,
    /// The process that ran the running attempts is gone.
    Lost,
    /// A visit that is about to begin, or that runs, waits until it is released. That costs it no
    /// attempt and has no further effect.
    Park {
        visit: VisitKey,
        /// The running attempt; one that is no longer running changes nothing. None: the visit as
        /// it is, whether its attempt has begun or not.
        attempt: Option<u32>,
        parked: Parked,
    },
    /// Parks every visit that the run's driver would go on with; if none exists, the run is paused.
    ParkAll(Parked),
    /// Parked visits begin their attempts anew: these, or all.
    Release {
        visits: Option<Vec<VisitKey>>,
        reason: String,
    },
    /// The run was copied from another's stream: attempts and waits of the other do not run here.
    Forked,
    Cancel {
        source: &'static str,
        reason: Option<String>,
    },
    /// The run that waited for this one has failed: this run's steps are undone, too.
    Abandoned {
        reason: String,
    },
    Pause {
        reason: Option<String>,
    },
    /// Ends a pause, and releases every parked visit.
    Resume,
}

impl Input {
    /// Bytes of its value. None if the run kept the value.
    pub fn value_bytes(&self) -> Option<usize> {
        let bytes = |value: &Option<Json>| value.as_ref().map_or(0, Json::bytes);
        match self {
            Self::Finished {
                outcome: Outcome::Success { output, .. },
                ..
            } => Some(bytes(output)),
            Self::ChildEnded { result, .. } => Some(result.as_ref().map_or(0, Json::bytes)),
            Self::Settled { value, .. } => Some(value.bytes()),
            Self::Late { so_far, .. } => Some(so_far.bytes()),
            Self::Due => None,
            _ => Some(0),
        }
    }
}

/// The result of an input.
#[derive(Debug, Default)]
pub struct Decision {
    pub events: Vec<Draft>,
    /// Runs to start in the same commit.
    pub children: Vec<Child>,
    /// Abandoned child runs: to be woken, so that they cancel themselves.
    pub abandoned: Vec<RunId>,
    /// Visits whose job is to be added, or to be tried again.
    pub queued: Vec<Queued>,
    /// Visits that ended with a job that may still exist.
    pub dequeued: Vec<VisitKey>,
    /// Visits that were parked: their jobs are removed at once, also from their holders, so that a
    /// new one can be added when they are released.
    pub parked: Vec<VisitKey>,
    /// Awaits that have ended.
    pub settled: Vec<Over>,
}

/// An await that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    pub id: Name,
    pub how: How,
    /// Its callback may still be resumed from outside.
    pub is_trigger: bool,
    /// How often it was fired, as far as the run knows.
    pub taken: u32,
}

/// How an await ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    Settled,
    Timeout { waited_ms: Millis },
    Cancelled { reason: String },
}

impl Over {
    fn of(visit: &Visit, awaiting: &Awaiting, how: How) -> Self {
        Self {
            id: awaiting.id.clone(),
            how,
            is_trigger: matches!(awaiting.what, AwaitFor::Trigger { .. }),
            taken: visit.taken(&awaiting.id),
        }
    }
}

/// A visit that runs as a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Queued {
    pub visit: VisitKey,
    /// Not before this time.
    pub at_ms: Option<Millis>,
    /// Attempts before the job's first.
    pub before: u32,
}

/// A step that an event enters.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub step: Name,
    /// The input of the step, if it is not the event's data.
    pub input: Option<Json>,
}

impl Decision {
    /// The input changed nothing.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub fn extend(&mut self, later: Decision) {
        self.events.extend(later.events);
        self.children.extend(later.children);
        self.abandoned.extend(later.abandoned);
        self.queued
            .retain(|queued| !later.parked.contains(&queued.visit));
        self.queued.extend(later.queued);
        self.dequeued.extend(later.dequeued);
        self.parked.extend(later.parked);
        self.settled.extend(later.settled);
    }
}

/// A child run to start.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    pub run: RunId,
    pub flow: Name,
    pub version: Name,
    pub input: Json,
    pub parent: Lineage,
}

/// How a run is to begin.
#[derive(Clone, Debug)]
pub struct Start {
    pub input: Json,
    pub not_before: Option<Millis>,
    pub parent: Option<Lineage>,
    /// How many events started a run on the way to it. A child belongs to its parent.
    pub chain: u32,
    /// The story that the run belongs to, if it is not its own, and its cause.
    pub correlation_id: Option<Name>,
    pub causation_id: Option<Name>,
}

/// Begins a run.
pub fn start(plan: &Plan, start: Start, now: Millis) -> (RunState, Decision) {
    let mut state = RunState::new();
    let from = start.not_before.unwrap_or(now).max(now);
    let deadline = plan.deadline(from);
    let mut decider = Decider::new(plan, &mut state, RunId::new(""), now);
    let started = Fact::FlowStarted(FlowStarted {
        input: start.input,
        version: plan.version.clone(),
        next: plan.initial.clone(),
        not_before: start.not_before.filter(|not_before| *not_before > now),
        deadline,
        parent: start.parent,
        queued: plan.queued.clone(),
        chain: start.chain,
    });
    let mut event = started.draft(now);
    event.correlation_id = start.correlation_id;
    event.causation_id = start.causation_id;
    decider.take_in(event);
    let decision = decider.decided();
    (state, decision)
}

/// Judges one input. A run that has ended or never began does not change. `run` is the run's own
/// id, which its children get.
pub fn decide(
    plan: &Plan,
    state: &mut RunState,
    run: &RunId,
    input: Input,
    now: Millis,
) -> Decision {
    // The clock of another machine, or of this one after a correction, may be behind: time in a
    // stream never goes back.
    let now = now.max(state.updated_ms);
    if state.status.is_ended() || state.len == 0 {
        return Decision::default();
    }
    let mut decider = Decider::new(plan, state, run.clone(), now);
    match input {
        Input::Begin(visit) => decider.begin(&visit),
        Input::Began {
            visit,
            attempt,
            at_ms,
        } => decider.began(&visit, attempt, at_ms),
        Input::Await { visit, awaiting } => decider.await_first(&visit, awaiting),
        Input::Refused { visit, failure } => decider.refused(&visit, failure),
        Input::Settled {
            visit,
            id,
            value,
            reason,
        } => decider.settled(&visit, &id, value, reason),
        Input::Late { visit, id, so_far } => decider.late(&visit, &id, so_far),
        Input::Emitted { event, entries } => decider.emitted(*event, entries),
        Input::Finished {
            visit,
            attempt,
            outcome,
            jitter,
            retry,
        } => {
            decider.retry = retry;
            decider.finished_attempt(&visit, attempt, outcome, jitter);
        }
        Input::ChildEnded { visit, run, result } => decider.child_ended(&visit, &run, result),
        Input::Due => decider.due(),
        Input::Lost => decider.lost(),
        Input::Park {
            visit,
            attempt,
            parked,
        } => decider.park(&visit, attempt, parked),
        Input::ParkAll(parked) => decider.park_all(parked),
        Input::Release { visits, reason } => decider.release(visits.as_deref(), &reason),
        Input::Forked => decider.forked(),
        Input::Cancel { source, reason } => decider.cancel(source, reason),
        Input::Abandoned { reason } => decider.abandoned(reason),
        Input::Pause { reason } => decider.pause(reason),
        Input::Resume => decider.resume(),
    }
    decider.decided()
}

/// One decision in the making.
struct Decider<'a> {
    plan: &'a Plan,
    state: &'a mut RunState,
    run: RunId,
    now: Millis,
    decision: Decision,
    /// Visits whose branches this turn has changed: they may have nothing left to wait for.
    touched: Vec<VisitKey>,
    /// The beginnings of the visits that this turn has entered.
    mark: u64,
    /// Earlier visits whose job is needed again.
    again: Vec<VisitKey>,
    /// The retry policy of a step without one.
    retry: Option<Retry>,
}

impl<'a> Decider<'a> {
    fn new(plan: &'a Plan, state: &'a mut RunState, run: RunId, now: Millis) -> Self {
        let mark = state.visits.mark();
        Self {
            plan,
            state,
            run,
            now,
            decision: Decision::default(),
            touched: Vec::new(),
            mark,
            again: Vec::new(),
            retry: None,
        }
    }

    /// The decision, with the needs of the visits that were entered or sent back.
    fn decided(mut self) -> Decision {
        let again = std::mem::take(&mut self.again);
        let before = again.iter().filter_map(|key| self.state.visit(key));
        let visits = before.chain(self.state.visits.since(self.mark));
        for visit in visits.filter(|visit| !self.plan.must_await(visit)) {
            if let Some(Wait::Job { until_ms }) = &visit.wait {
                let resumed = visit.status == VisitStatus::Running;
                self.decision.queued.push(Queued {
                    visit: visit.key.clone(),
                    at_ms: (*until_ms).max(self.state.not_before),
                    before: visit.attempt.saturating_sub(u32::from(resumed)),
                });
            }
        }
        self.decision
    }

    /// The time since then. An imported stream may hold any time.
    fn since(&self, ms: Millis) -> Millis {
        self.now.saturating_sub(ms)
    }

    fn emit(&mut self, fact: Fact) {
        self.emit_at(fact, self.now);
    }

    fn emit_at(&mut self, fact: Fact, ms: Millis) {
        self.state.apply_fact(&fact, ms);
        self.decision.events.push(fact.draft(ms));
    }

    /// Applies an event from outside the engine.
    fn take_in(&mut self, mut event: Draft) {
        event.ms = self.now;
        self.state.apply(&event);
        self.decision.events.push(event);
    }
}
