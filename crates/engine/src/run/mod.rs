//! A run as the reduction of its stream, with its queries.

mod apply;
mod awaiting;
mod branches;
mod consumed;
mod entry_state;
mod memo;
mod next;
mod visit;
mod visits;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

use indexmap::IndexMap;
use riverrun_types::{
    Cancellation, Draft, EventType, Failure, Json, Lineage, Millis, Name, RunStatus, State,
    StepRef, VisitKey, VisitStatus,
    event::{EventContext, before_ms, reference, reference_ms},
    json::present,
    time::NEVER,
};
use serde::{Deserialize, Serialize};

pub(crate) use self::apply::timed_out;
pub use self::{
    awaiting::{AwaitFor, Awaiting},
    entry_state::EntryState,
    memo::{Memo, MemoRetry},
    visit::{Branch, BranchStatus, Branches, InBranch, Visit, Wait},
    visits::Visits,
};
use crate::View;

/// The engine's state of a run. It changes by [`RunState::apply`] alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunState {
    pub status: RunStatus,
    pub version: Name,
    pub input: Json,
    pub state: State,
    /// Visits that have not ended, in the order in which they were entered.
    pub visits: Visits,
    /// The state of each step that was ever entered, by its latest event.
    pub steps: IndexMap<Name, StepSummary>,
    /// Visits begun so far.
    pub step_count: u64,
    /// How many of these the flow's limit does not count: visits that undo, and all visits before a
    /// failed run began to undo.
    #[serde(default, skip_serializing_if = "riverrun_types::is_zero")]
    pub uncounted: u64,
    pub paused: bool,
    pub not_before: Option<Millis>,
    /// The time that visits are parked does not count towards it.
    pub deadline: Option<Millis>,
    /// How many visits are parked, and since when there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parked: Option<ParkedVisits>,
    pub parent: Option<Lineage>,
    /// The story that the run belongs to, if it is not its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<Name>,
    pub created_ms: Millis,
    pub updated_ms: Millis,
    pub ended_ms: Option<Millis>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub result: Option<Json>,
    /// Why the run failed. Set by the failure that nothing caught, just before the end.
    pub error: Option<Failure>,
    /// Why the run was cancelled. Set with the last visit, just before the end.
    pub cancellation: Option<Cancellation>,
    /// Events reduced so far: the length of the stream that leads to this state.
    pub len: u64,
    /// Steps whose visits run as jobs of a queue.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub queued: BTreeSet<Name>,
    /// How many events started a run on the way to this one.
    #[serde(default, skip_serializing_if = "riverrun_types::is_zero")]
    pub chain: u32,
    /// Events that wait for others of their step's `join: all`, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldEvent>,
    /// Finished visits that can be undone, in the order in which they ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undo: Vec<Undo>,
    /// The run has failed and undoes its steps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compensating: bool,
    /// The run's end after that, if it has not failed itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_cancelled: Option<Cancellation>,
    /// The events that finished visits have still to emit, in order: they follow at once, and the
    /// run does not end before them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to_emit: Vec<ToEmit>,
    /// The payload of the latest emitted event: the input of the visits that it enters.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub latest: Option<Json>,
    /// The id of that event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_id: Option<Name>,
    /// References of the events that awaits have consumed, by their kinds; the earlier ones of many
    /// as a time ([`consumed`]).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub consumed: BTreeMap<Name, Vec<Json>>,
    /// The event that wrote the state last, by its number in the stream.
    #[serde(default, skip_serializing_if = "riverrun_types::is_zero")]
    pub written: u64,
    /// The state that visits which run as jobs found when they were entered, by the event that had
    /// written it last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub found: BTreeMap<u64, EntryState>,
    /// The bytes of active branches: their items and the writes of their steps.
    #[serde(default, skip_serializing_if = "riverrun_types::is_zero")]
    pub scope_bytes: usize,
}

/// The visits of a run that are parked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParkedVisits {
    pub count: u32,
    pub since_ms: Millis,
}

/// An event that a step with `join: all` keeps until the others have arrived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldEvent {
    pub step: Name,
    pub kind: Name,
    pub input: Json,
}

/// A finished visit and the step that undoes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Undo {
    pub visit: VisitKey,
    pub by: Name,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub result: Option<Json>,
}

/// An event that a finished visit has still to emit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToEmit {
    pub visit: VisitKey,
    pub attempt: u32,
    pub kind: Name,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub data: Option<Json>,
}

impl ToEmit {
    /// The event.
    pub fn draft(&self, ms: Millis) -> Draft {
        let VisitKey { step, visit } = &self.visit;
        let mut draft = Draft::new(ms, EventType::parse(&self.kind)).step(StepRef {
            name: step.clone(),
            visit: *visit,
            attempt: self.attempt,
        });
        draft.data = self.data.clone().filter(|data| !data.is_null());
        draft
    }
}

/// The latest state of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepSummary {
    pub status: VisitStatus,
    pub visits: u32,
    pub attempt: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

impl RunState {
    /// The state before the first event. `flow.started` fills it.
    pub fn new() -> Self {
        Self {
            status: RunStatus::Pending,
            version: Name::from(""),
            input: Json::null(),
            state: State::default(),
            visits: Visits::default(),
            steps: IndexMap::new(),
            step_count: 0,
            uncounted: 0,
            paused: false,
            not_before: None,
            deadline: None,
            parked: None,
            parent: None,
            correlation: None,
            created_ms: 0,
            updated_ms: 0,
            ended_ms: None,
            result: None,
            error: None,
            cancellation: None,
            len: 0,
            queued: BTreeSet::new(),
            chain: 0,
            held: Vec::new(),
            undo: Vec::new(),
            compensating: false,
            ends_cancelled: None,
            to_emit: Vec::new(),
            latest: None,
            latest_id: None,
            consumed: BTreeMap::new(),
            written: 0,
            found: BTreeMap::new(),
            scope_bytes: 0,
        }
    }

    /// The steps that count towards the flow's limit.
    pub(crate) fn counted_steps(&self) -> u64 {
        self.step_count.saturating_sub(self.uncounted)
    }

    pub fn visit(&self, key: &VisitKey) -> Option<&Visit> {
        self.visits.get(key)
    }

    /// The view of a visit: the run's state, and around it from the outside in, the input of each
    /// fork and the values of its branch; then the value of its await (`awaited`). The failure that
    /// led to the visit, or to a fork around it, is `error` if none of these has that name.
    pub fn view<'a>(&'a self, visit: &'a Visit) -> View<'a> {
        visit.seen(self.view_around(visit, &self.state, &[]))
    }

    /// The view at the place of a visit, on a state. The scopes of the branches around its own one
    /// may be given, from the innermost.
    fn view_around<'a>(
        &'a self,
        visit: &'a Visit,
        state: &'a State,
        scopes: &'a [Arc<State>],
    ) -> View<'a> {
        let mut view = View::of(state);
        let forks: Vec<_> = self.forks_around(visit).collect();
        for (depth, (holder, index)) in forks.into_iter().enumerate().rev() {
            view = holder.seen(view);
            let given = depth.checked_sub(1).and_then(|outer| scopes.get(outer));
            let scope = given.or_else(|| Some(&holder.branch(index)?.scope));
            if let Some(scope) = scope {
                view = view.inside(scope);
            }
        }
        view
    }

    /// The visits whose branches contain a visit, from the innermost, each with the branch.
    pub(crate) fn forks_around<'a>(
        &'a self,
        visit: &'a Visit,
    ) -> impl Iterator<Item = (&'a Visit, usize)> {
        let holder = |visit: &'a Visit| {
            let InBranch { of, index } = visit.branch.as_ref()?;
            Some((self.visit(of)?, *index))
        };
        std::iter::successors(holder(visit), move |(visit, _)| holder(visit))
    }

    /// Visits that may begin an attempt now.
    pub fn runnable(&self, now: Millis) -> impl Iterator<Item = &Visit> {
        self.visits
            .iter()
            .filter(move |visit| self.may_begin(visit, now))
    }

    /// Whether the run has work right now.
    pub fn can_go_on(&self, now: Millis) -> bool {
        !self.to_emit.is_empty() || self.runnable(now).next().is_some()
    }

    pub(crate) fn may_begin(&self, visit: &Visit, now: Millis) -> bool {
        let held = self.paused
            || self.status.is_ended()
            || self.not_before.is_some_and(|not_before| not_before > now);
        !held
            && match (visit.status, &visit.wait) {
                (VisitStatus::Pending, None) => true,
                (VisitStatus::Retrying, Some(Wait::Backoff { until_ms })) => *until_ms <= now,
                _ => false,
            }
    }

    /// Whether a copy is cheap, which it is not with many branches.
    pub fn is_small(&self) -> bool {
        const FEW: usize = 256;
        let branches = self.visits.iter().filter_map(Visit::branches);
        let branches: usize = branches.map(|inside| inside.branches.len()).sum();
        self.visits.len() + branches <= FEW
    }

    /// When the run changes by itself, the next attempt of a step that runs as a job included;
    /// `NEVER` if only others can move it. That attempt is due in its queue: the run itself need
    /// not be claimed for it.
    pub fn due_ms(&self) -> Millis {
        if self.status.is_ended() || self.paused {
            return NEVER;
        }
        let jobs = self.visits.iter().filter_map(|visit| match &visit.wait {
            Some(Wait::Job { until_ms }) => *until_ms,
            _ => None,
        });
        jobs.chain([self.wake_ms()]).min().unwrap_or(NEVER)
    }

    /// The events of a kind that an await of a visit passes over: those that awaits of the run have
    /// consumed, and the one that entered the visit. `own` is the envelope of the run's events.
    pub fn consumed(&self, visit: &VisitKey, kind: &str, own: &EventContext) -> Vec<Json> {
        let mut consumed = consumed::of(&self.consumed, kind);
        let Some(visit) = self.visit(visit) else {
            return consumed;
        };
        // Of runs that began before the run itself kept them.
        let known: HashSet<&str> = consumed.iter().map(Json::as_str).collect();
        let passed_ms = consumed.iter().filter_map(before_ms).max();
        let answers = visit.given(kind);
        let answers = answers.iter().map(reference).filter(|answer| {
            let times = reference_ms(answer).zip(passed_ms);
            let is_passed = times.is_some_and(|(ms, passed_ms)| ms < passed_ms);
            !is_passed && !known.contains(answer.as_str())
        });
        let answers: Vec<Json> = answers.collect();
        consumed.extend(answers);
        if let Some(id) = &visit.entered_by {
            let EventContext {
                run_id, flow_name, ..
            } = own;
            let members = serde_json::json!({"id": id, "runId": run_id, "flowName": flow_name});
            consumed.push(Json::of(&members));
        }
        consumed
    }

    /// When the run moves by itself; `NEVER` if only others can move it.
    pub fn wake_ms(&self) -> Millis {
        if self.status.is_ended() || self.paused {
            return NEVER;
        }
        let start = self.not_before.unwrap_or(0);
        if !self.to_emit.is_empty() {
            return start;
        }
        let visits = self
            .visits
            .iter()
            .filter_map(|visit| match (&visit.wait, visit.status) {
                (Some(Wait::Time { until_ms, .. } | Wait::Backoff { until_ms }), _) => {
                    Some(start.max(*until_ms))
                }
                (Some(Wait::Await(awaiting)), _) => {
                    awaiting.until_ms.map(|until_ms| start.max(until_ms))
                }
                (None, VisitStatus::Pending) => Some(start),
                _ => None,
            });
        let deadline = self.deadline.filter(|_| self.parked.is_none());
        visits.chain(deadline).min().unwrap_or(NEVER)
    }
}

impl Default for RunState {
    fn default() -> Self {
        Self::new()
    }
}
