//! A run as its stream makes it: the reducer and what it reduces to.

use indexmap::IndexMap;
use riverrun_types::{
    Draft, Json, Millis, Name, RunId, RunStatus, State, StepRef, VisitStatus, time::NEVER,
};
use serde::{Deserialize, Serialize};

use crate::{
    Failure, Fork, View,
    fact::{Fact, OpKind, Started},
};

/// Everything that the engine knows of a run. It changes by [`RunState::apply`] alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunState {
    pub status: RunStatus,
    pub version: Name,
    pub input: Json,
    pub state: State,
    /// Visits that have not ended, in the order in which they were entered.
    pub visits: Vec<Visit>,
    /// Where each step that was ever entered stands, by its latest news.
    pub steps: IndexMap<Name, StepSummary>,
    /// Visits begun so far.
    pub step_count: u64,
    pub paused: bool,
    pub not_before: Option<Millis>,
    pub deadline: Option<Millis>,
    pub parent: Option<Lineage>,
    pub created_ms: Millis,
    pub updated_ms: Millis,
    pub ended_ms: Option<Millis>,
    pub result: Option<Json>,
    pub error: Option<Failure>,
    pub cancellation: Option<Cancellation>,
    /// Events reduced so far: the length of the stream that this state stands for.
    pub len: u64,
}

/// Where a child run comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lineage {
    pub run_id: RunId,
    pub step: Name,
    pub visit: u32,
    /// How many runs stand above it.
    pub depth: u32,
    /// The parent does not wait for it, and its end is none of the child's business.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub detached: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cancellation {
    /// `user`, `timeout`, `system` or `parent`.
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The latest news of a step.
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

/// Which visit: a step and the n-th time it was entered.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct VisitKey {
    pub step: Name,
    pub visit: u32,
}

/// A visit that has not ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Visit {
    pub key: VisitKey,
    pub status: VisitStatus,
    /// Tries so far; 0 before the first.
    pub attempt: u32,
    /// Tries that failed, which is what a retry policy counts.
    pub failures: u32,
    /// Tries that were lost with their worker.
    pub losses: u32,
    /// The branch that it belongs to.
    pub branch: Option<InBranch>,
    /// The failure that led here, which its selectors see as `error`.
    pub caught: Option<State>,
    pub since_ms: Millis,
    pub wait: Option<Wait>,
}

impl Visit {
    pub fn at(&self) -> StepRef {
        StepRef {
            name: self.key.step.clone(),
            visit: self.key.visit,
            attempt: self.attempt,
        }
    }
}

/// A place in the branches of another visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InBranch {
    pub of: VisitKey,
    pub index: usize,
}

/// What a visit waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Wait {
    Time {
        until_ms: Millis,
        reason: Option<String>,
    },
    Backoff {
        until_ms: Millis,
    },
    Branches(Branches),
    Run {
        run: RunId,
        flow: Name,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Branches {
    pub branches: Vec<Branch>,
    pub concurrency: u32,
    pub fail_fast: bool,
    pub as_list: bool,
    pub scoped: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    pub step: Name,
    pub status: BranchStatus,
    /// What belongs to the branch alone: `item`, `index` and, if the fork is scoped, what its
    /// steps wrote.
    pub scope: State,
    pub result: Option<Json>,
    pub error: Option<Failure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BranchStatus {
    Pending,
    Active,
    Done,
    Failed,
}

impl RunState {
    /// The state before the first event. `flow.started` fills it.
    pub fn new() -> Self {
        Self {
            status: RunStatus::Pending,
            version: Name::from(""),
            input: Json::null(),
            state: State::default(),
            visits: Vec::new(),
            steps: IndexMap::new(),
            step_count: 0,
            paused: false,
            not_before: None,
            deadline: None,
            parent: None,
            created_ms: 0,
            updated_ms: 0,
            ended_ms: None,
            result: None,
            error: None,
            cancellation: None,
            len: 0,
        }
    }

    /// Reduces one more event of the stream.
    pub fn apply(&mut self, draft: &Draft) {
        self.apply_fact(&Fact::read(draft), draft.ms);
    }

    pub fn visit(&self, key: &VisitKey) -> Option<&Visit> {
        self.visits.iter().find(|visit| visit.key == *key)
    }

    /// What a visit can see.
    pub fn view<'a>(&'a self, visit: &'a Visit) -> View<'a> {
        let mut scopes = Vec::new();
        let mut branch = visit.branch.as_ref();
        while let Some(place) = branch {
            let Some(of) = self.visit(&place.of) else {
                break;
            };
            if let Some(Wait::Branches(branches)) = &of.wait {
                scopes.extend(
                    branches
                        .branches
                        .get(place.index)
                        .map(|branch| &branch.scope),
                );
            }
            branch = of.branch.as_ref();
        }
        let mut view = View::of(&self.state);
        for scope in scopes.into_iter().rev() {
            view = view.inside(scope);
        }
        match &visit.caught {
            Some(caught) => view.inside(caught),
            None => view,
        }
    }

    /// Visits that may begin an attempt now.
    pub fn runnable(&self, now: Millis) -> impl Iterator<Item = &Visit> {
        let held = self.paused
            || self.status.is_ended()
            || self.not_before.is_some_and(|not_before| not_before > now);
        self.visits.iter().filter(move |visit| {
            !held
                && match (visit.status, &visit.wait) {
                    (VisitStatus::Pending, _) => true,
                    (VisitStatus::Retrying, Some(Wait::Backoff { until_ms })) => *until_ms <= now,
                    _ => false,
                }
        })
    }

    /// When the run moves by itself; `NEVER` if only others can move it.
    pub fn wake_ms(&self) -> Millis {
        if self.status.is_ended() || self.paused {
            return NEVER;
        }
        let start = self.not_before.unwrap_or(0);
        let visits = self
            .visits
            .iter()
            .filter_map(|visit| match (&visit.wait, visit.status) {
                (Some(Wait::Time { until_ms, .. } | Wait::Backoff { until_ms }), _) => {
                    Some(start.max(*until_ms))
                }
                (None, VisitStatus::Pending) => Some(start),
                _ => None,
            });
        visits.chain(self.deadline).min().unwrap_or(NEVER)
    }

    pub fn apply_fact(&mut self, fact: &Fact, ms: Millis) {
        self.len += 1;
        self.updated_ms = ms;
        match fact {
            Fact::Started(started) => self.begin(started, ms),
            Fact::Completed { result, .. } => {
                self.result = Some(result.clone());
                self.end(RunStatus::Completed, ms);
            }
            Fact::Failed { error, .. } => {
                self.error = Some(error.clone());
                self.end(RunStatus::Failed, ms);
            }
            Fact::Cancelled { cancellation, .. } => {
                self.cancellation = Some(cancellation.clone());
                self.end(RunStatus::Cancelled, ms);
            }
            Fact::Paused { .. } => self.paused = true,
            Fact::Resumed => self.paused = false,
            Fact::StepStarted(at) => self.step_started(at, ms),
            Fact::StepCompleted {
                at,
                result,
                output_key,
                next,
            } => {
                let Some(visit) = self.leave(at, VisitStatus::Completed, ms) else {
                    return;
                };
                if let (Some(key), Some(value)) = (output_key, result) {
                    self.scope_of(&visit).set(key, value.clone());
                }
                match next {
                    Some(next) => self.enter(next, visit.branch, visit.caught, ms),
                    None => self.path_ended(&visit, result.clone(), ms),
                }
            }
            Fact::StepFailed {
                at,
                error,
                retry_at: Some(until_ms),
                ..
            } => {
                self.summarise(&at.name, |step| step.error = Some(error.clone()));
                self.change(at, VisitStatus::Retrying, |visit| {
                    visit.failures += 1;
                    visit.wait = Some(Wait::Backoff {
                        until_ms: *until_ms,
                    });
                });
            }
            Fact::StepFailed {
                at, error, next, ..
            } => {
                self.summarise(&at.name, |step| step.error = Some(error.clone()));
                let Some(visit) = self.leave(at, VisitStatus::Failed, ms) else {
                    return;
                };
                match next {
                    Some(next) => {
                        let caught = [("error".to_owned(), Json::of(error))]
                            .into_iter()
                            .collect();
                        self.enter(next, visit.branch, Some(caught), ms);
                    }
                    None => self.branch_failed(&visit, error),
                }
            }
            Fact::StepRetry { at, lost: true, .. } => {
                self.change(at, VisitStatus::Retrying, |visit| {
                    visit.losses += 1;
                    visit.wait = Some(Wait::Backoff { until_ms: 0 });
                });
            }
            // Scheduled by the step.failed before it.
            Fact::StepRetry { .. } => {}
            Fact::StepResumed { at, .. } => {
                self.change(at, VisitStatus::Running, |visit| visit.wait = None);
            }
            Fact::StepCancelled { at, .. } => {
                self.leave(at, VisitStatus::Cancelled, ms);
            }
            Fact::AwaitTime {
                at,
                until_ms,
                reason,
            } => {
                let wait = Wait::Time {
                    until_ms: *until_ms,
                    reason: reason.clone(),
                };
                self.wait(at, wait, ms);
            }
            Fact::AwaitRun { at, run, flow, .. } => {
                self.wait(
                    at,
                    Wait::Run {
                        run: run.clone(),
                        flow: flow.clone(),
                    },
                    ms,
                );
            }
            Fact::AwaitBranches { at, fork } => self.fork(at, fork, ms),
            Fact::StateSet { key, value } => self.state.set(key, value.clone()),
            Fact::StateDelete { key } => self.state.delete(key),
            Fact::StateBatch(operations) => {
                for operation in operations {
                    match operation.kind {
                        OpKind::Set => {
                            let value = operation.value.clone().unwrap_or_else(Json::null);
                            self.state.set(&operation.key, value);
                        }
                        OpKind::Delete => self.state.delete(&operation.key),
                    }
                }
            }
            Fact::StateSnapshot(state) => self.state = state.clone(),
            Fact::Other => {}
        }
        self.derive_status();
    }

    fn begin(&mut self, started: &Started, ms: Millis) {
        self.version = started.version.clone();
        self.input = started.input.clone();
        self.state = State::from_input(&started.input);
        self.not_before = started.not_before;
        self.deadline = started.deadline;
        self.parent = started.parent.clone();
        self.created_ms = ms;
        self.enter(&started.next, None, None, ms);
    }

    fn end(&mut self, status: RunStatus, ms: Millis) {
        self.status = status;
        self.ended_ms = Some(ms);
        self.visits.clear();
        self.paused = false;
    }

    fn enter(&mut self, step: &Name, branch: Option<InBranch>, caught: Option<State>, ms: Millis) {
        let summary = self
            .steps
            .entry(step.clone())
            .or_insert_with(|| StepSummary {
                status: VisitStatus::Pending,
                visits: 0,
                attempt: 0,
                started_ms: None,
                ended_ms: None,
                error: None,
            });
        summary.visits += 1;
        summary.status = VisitStatus::Pending;
        summary.attempt = 0;
        let key = VisitKey {
            step: step.clone(),
            visit: summary.visits,
        };
        self.visits.push(Visit {
            key,
            status: VisitStatus::Pending,
            attempt: 0,
            failures: 0,
            losses: 0,
            branch,
            caught,
            since_ms: ms,
            wait: None,
        });
    }

    fn step_started(&mut self, at: &StepRef, ms: Millis) {
        if at.attempt == 1 {
            self.step_count += 1;
        }
        self.not_before = None;
        self.change(at, VisitStatus::Running, |visit| {
            visit.attempt = at.attempt;
            visit.since_ms = ms;
            visit.wait = None;
        });
        self.summarise(&at.name, |step| {
            step.attempt = at.attempt;
            step.started_ms = Some(ms);
            step.ended_ms = None;
            step.error = None;
        });
    }

    fn wait(&mut self, at: &StepRef, wait: Wait, ms: Millis) {
        self.change(at, VisitStatus::Waiting, |visit| {
            visit.wait = Some(wait);
            visit.since_ms = ms;
        });
    }

    fn fork(&mut self, at: &StepRef, fork: &Fork, ms: Millis) {
        let branch = |(index, spec): (usize, &crate::BranchSpec)| {
            let item = spec.item.clone().map(|item| ("item".to_owned(), item));
            let index = item
                .is_some()
                .then(|| ("index".to_owned(), Json::of(&index)));
            Branch {
                step: spec.step.clone(),
                status: BranchStatus::Pending,
                scope: item.into_iter().chain(index).collect(),
                result: None,
                error: None,
            }
        };
        let branches = Branches {
            branches: fork.branches.iter().enumerate().map(branch).collect(),
            concurrency: fork.concurrency,
            fail_fast: fork.fail_fast,
            as_list: fork.as_list,
            scoped: fork.scoped,
        };
        self.wait(at, Wait::Branches(branches), ms);
        let key = VisitKey {
            step: at.name.clone(),
            visit: at.visit,
        };
        self.start_branches(&key, ms);
    }

    /// Enters pending branches as far as the concurrency allows.
    fn start_branches(&mut self, of: &VisitKey, ms: Millis) {
        let Some(branches) = self.branches_mut(of) else {
            return;
        };
        let active = branches
            .branches
            .iter()
            .filter(|b| b.status == BranchStatus::Active)
            .count();
        let room = match branches.concurrency {
            0 => usize::MAX,
            limit => (limit as usize).saturating_sub(active),
        };
        let mut entered = Vec::new();
        for (index, branch) in branches.branches.iter_mut().enumerate() {
            if entered.len() == room {
                break;
            }
            if branch.status == BranchStatus::Pending {
                branch.status = BranchStatus::Active;
                entered.push((index, branch.step.clone()));
            }
        }
        for (index, step) in entered {
            self.enter(
                &step,
                Some(InBranch {
                    of: of.clone(),
                    index,
                }),
                None,
                ms,
            );
        }
    }

    /// A path ended without a next step: a branch is done, or the run has its result.
    fn path_ended(&mut self, visit: &Visit, result: Option<Json>, ms: Millis) {
        let Some(InBranch { of, index }) = &visit.branch else {
            self.result = result;
            return;
        };
        if let Some(branch) = self.branch_mut(of, *index) {
            branch.status = BranchStatus::Done;
            branch.result = result;
            branch.scope = State::default();
        }
        self.start_branches(of, ms);
    }

    fn branch_failed(&mut self, visit: &Visit, error: &Failure) {
        let Some(InBranch { of, index }) = &visit.branch else {
            return;
        };
        let fail_fast = self
            .branches_mut(of)
            .is_some_and(|branches| branches.fail_fast);
        if let Some(branch) = self.branch_mut(of, *index) {
            branch.status = BranchStatus::Failed;
            branch.error = Some(error.clone());
            branch.scope = State::default();
        }
        if !fail_fast {
            self.start_branches(of, self.updated_ms);
        }
    }

    fn branches_mut(&mut self, of: &VisitKey) -> Option<&mut Branches> {
        branches_in(&mut self.visits, of)
    }

    fn branch_mut(&mut self, of: &VisitKey, index: usize) -> Option<&mut Branch> {
        branch_in(&mut self.visits, of, index)
    }

    /// Where the output of a visit is written: the innermost scoped branch around it, or the
    /// run's state.
    fn scope_of(&mut self, visit: &Visit) -> &mut State {
        let mut place = visit.branch.clone();
        while let Some(InBranch { of, .. }) = &place {
            let holder = self.visit(of);
            match holder.map(|holder| (&holder.wait, &holder.branch)) {
                Some((Some(Wait::Branches(branches)), _)) if branches.scoped => break,
                Some((_, outer)) => place = outer.clone(),
                None => place = None,
            }
        }
        let branch =
            place.and_then(|InBranch { of, index }| branch_in(&mut self.visits, &of, index));
        branch.map_or(&mut self.state, |branch| &mut branch.scope)
    }

    fn change(&mut self, at: &StepRef, status: VisitStatus, edit: impl FnOnce(&mut Visit)) {
        let visit = self
            .visits
            .iter_mut()
            .find(|visit| visit.key.visit == at.visit && visit.key.step == at.name);
        if let Some(visit) = visit {
            visit.status = status;
            edit(visit);
        }
        self.summarise(&at.name, |step| step.status = status);
    }

    fn leave(&mut self, at: &StepRef, status: VisitStatus, ms: Millis) -> Option<Visit> {
        let position = self
            .visits
            .iter()
            .position(|visit| visit.key.visit == at.visit && visit.key.step == at.name)?;
        let visit = self.visits.remove(position);
        self.summarise(&at.name, |step| {
            step.status = status;
            step.ended_ms = Some(ms);
        });
        Some(visit)
    }

    fn summarise(&mut self, step: &Name, edit: impl FnOnce(&mut StepSummary)) {
        if let Some(summary) = self.steps.get_mut(step) {
            edit(summary);
        }
    }

    fn derive_status(&mut self) {
        if self.status.is_ended() {
            return;
        }
        let waits =
            |visit: &Visit| matches!(visit.status, VisitStatus::Waiting | VisitStatus::Retrying);
        self.status = if self.paused {
            RunStatus::Paused
        } else if self.step_count == 0 {
            RunStatus::Pending
        } else if !self.visits.is_empty() && self.visits.iter().all(waits) {
            RunStatus::Waiting
        } else {
            RunStatus::Running
        };
    }
}

fn branches_in<'a>(visits: &'a mut [Visit], of: &VisitKey) -> Option<&'a mut Branches> {
    let visit = visits.iter_mut().find(|visit| visit.key == *of)?;
    match &mut visit.wait {
        Some(Wait::Branches(branches)) => Some(branches),
        _ => None,
    }
}

fn branch_in<'a>(visits: &'a mut [Visit], of: &VisitKey, index: usize) -> Option<&'a mut Branch> {
    branches_in(visits, of)?.branches.get_mut(index)
}

impl Default for RunState {
    fn default() -> Self {
        Self::new()
    }
}
