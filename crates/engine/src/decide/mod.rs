//! The judge: one input in, the events that follow from it out.
//!
//! Every decision is made on a [`Turn`]: it holds the run's state and emits facts, and each fact
//! is applied to the state the moment it is emitted. Nothing else touches the state, so what a
//! replay of the events gives is what was decided on.

mod check;
mod control;
mod ended;
mod lost;
mod step;
mod wait;

use riverrun_types::{Draft, Json, Millis, Name, RunId};

pub(crate) use wait::MAX_DEPTH;

use crate::{Failure, Outcome, Plan, RunState, VisitKey, fact::Fact, fact::Started, run::Lineage};

/// Something that happened to a run.
#[derive(Clone, Debug)]
pub enum Input {
    /// An attempt of a runnable visit begins.
    Begin(VisitKey),
    /// The attempt that runs has ended. One that is no longer the running one changes nothing.
    Finished {
        visit: VisitKey,
        attempt: u32,
        outcome: Outcome,
        jitter: f64,
    },
    /// The child run that a visit waits for has ended.
    ChildEnded {
        visit: VisitKey,
        run: RunId,
        result: Result<Json, Failure>,
    },
    /// Time has passed: waits and the deadline may be over.
    Due,
    /// Whoever ran the attempts that are running is gone.
    Lost,
    /// The run was copied from another's stream: what ran or waited there does not run here.
    Forked,
    Cancel {
        source: &'static str,
        reason: Option<String>,
    },
    Pause {
        reason: Option<String>,
    },
    Resume,
}

/// What follows from an input.
#[derive(Debug, Default)]
pub struct Decision {
    pub events: Vec<Draft>,
    /// Runs to start in the same commit.
    pub children: Vec<Child>,
    /// Child runs that nobody waits for any more: to be woken, so that they cancel themselves.
    pub abandoned: Vec<RunId>,
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
}

/// Begins a run.
pub fn start(plan: &Plan, start: Start, now: Millis) -> (RunState, Decision) {
    let mut state = RunState::new();
    let from = start.not_before.unwrap_or(now).max(now);
    let deadline = plan.deadline(from);
    let mut turn = Turn::new(plan, &mut state, RunId::new(""), now);
    turn.emit(Fact::Started(Started {
        input: start.input,
        version: plan.version.clone(),
        next: plan.initial.clone(),
        not_before: start.not_before.filter(|not_before| *not_before > now),
        deadline,
        parent: start.parent,
    }));
    let decision = turn.decision;
    (state, decision)
}

/// Judges one input. Nothing ever happens to a run that has ended or never began. `run` is the run's own id, which its children are told.
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
    let mut turn = Turn::new(plan, state, run.clone(), now);
    match input {
        Input::Begin(visit) => turn.begin(&visit),
        Input::Finished {
            visit,
            attempt,
            outcome,
            jitter,
        } => {
            turn.finished_attempt(&visit, attempt, outcome, jitter);
        }
        Input::ChildEnded { visit, run, result } => turn.child_ended(&visit, &run, result),
        Input::Due => turn.due(),
        Input::Lost => turn.lost(),
        Input::Forked => turn.forked(),
        Input::Cancel { source, reason } => turn.cancel(source, reason),
        Input::Pause { reason } => turn.pause(reason),
        Input::Resume => turn.resume(),
    }
    turn.decision
}

/// One decision in the making.
struct Turn<'a> {
    plan: &'a Plan,
    state: &'a mut RunState,
    run: RunId,
    now: Millis,
    decision: Decision,
    /// Visits whose branches this turn has changed: they may have nothing left to wait for.
    touched: Vec<VisitKey>,
}

impl<'a> Turn<'a> {
    fn new(plan: &'a Plan, state: &'a mut RunState, run: RunId, now: Millis) -> Self {
        Self {
            plan,
            state,
            run,
            now,
            decision: Decision::default(),
            touched: Vec::new(),
        }
    }

    /// How long ago that was. A stream from elsewhere may hold any time.
    fn since(&self, ms: Millis) -> Millis {
        self.now.saturating_sub(ms)
    }

    fn emit(&mut self, fact: Fact) {
        self.state.apply_fact(&fact, self.now);
        self.decision.events.push(fact.draft(self.now));
    }
}
