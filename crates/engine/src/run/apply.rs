//! The reducer: what each fact changes. Nothing else changes a run.

use std::sync::Arc;

use indexmap::IndexMap;
use riverrun_types::{
    Draft, EventType, Json, Millis, Name, RunStatus, State, StepRef, VisitStatus,
};

use super::{
    AwaitFor, Awaiting, Held, InBranch, Memo, RunState, StepSummary, ToEmit, Undo, Visit, VisitKey,
    Wait,
};
use crate::{
    Failure, code,
    fact::{Fact, OpKind, Started, StateOp, is_in_run},
};

/// What a visit takes over from what led to it.
#[derive(Default)]
pub(super) struct From {
    pub branch: Option<InBranch>,
    pub caught: Option<Arc<State>>,
    pub input: Option<Json>,
    pub undoes: Option<VisitKey>,
}

impl From {
    /// What the next step on a visit's path takes over.
    fn of(visit: Visit) -> Self {
        Self {
            branch: visit.branch,
            caught: visit.caught,
            ..Self::default()
        }
    }
}

/// The answer that a handler's code is given to its await.
fn answer(awaiting: &Awaiting, value: Option<Json>) -> Memo {
    let name = match &awaiting.what {
        AwaitFor::Time => Name::from("time"),
        AwaitFor::Event { event_kind, .. } => event_kind.clone(),
        AwaitFor::Trigger { .. } => awaiting.id.clone(),
    };
    Memo {
        op: Name::from("await"),
        name,
        value,
        error: None,
        emits: Vec::new(),
    }
}

/// What an emitted event is in the journal of the code that emitted it: known by the type that was
/// asked for, also where its topic is its kind, and where it has none.
fn emitted(fact: &Fact, draft: &Draft) -> Option<Memo> {
    let is_emitted = matches!(fact, Fact::Emitted { .. }) || draft.kind == EventType::Emit;
    is_emitted.then(|| Memo {
        op: Name::from("emit"),
        name: Name::from(draft.kind.as_str()),
        value: None,
        error: None,
        emits: Vec::new(),
    })
}

/// What a write of state is in the journal of the code that wrote it.
fn written(fact: &Fact, draft: &Draft) -> Option<Memo> {
    let (op, name, value) = match fact {
        Fact::StateSet { key, value } => ("state.set", key.to_string(), Some(value.clone())),
        Fact::StateDelete { key } => ("state.delete", key.to_string(), None),
        Fact::StateBatch(operations) => {
            let values = operations.iter().map(|op| (op.key.to_string(), &op.value));
            let values: IndexMap<String, &Option<Json>> = values.collect();
            ("state.setBatch", String::new(), Some(Json::of(&values)))
        }
        _ => return None,
    };
    (!is_in_run(draft)).then(|| Memo {
        op: Name::from(op),
        name: Name::from(name),
        value,
        error: None,
        emits: Vec::new(),
    })
}

pub(crate) fn timed_out(awaiting: &Awaiting) -> Failure {
    let what = match &awaiting.what {
        AwaitFor::Time => "the time",
        AwaitFor::Event { event_kind, .. } => event_kind,
        AwaitFor::Trigger { .. } => "the trigger",
    };
    let message = format!("{what} did not come in time");
    Failure::new(code::AWAIT_TIMEOUT, message).permanent()
}

impl RunState {
    /// Reduces one more event of the stream.
    pub fn apply(&mut self, draft: &Draft) {
        let fact = Fact::read(draft);
        self.apply_fact(&fact, draft.ms);
        if draft.kind == EventType::FlowStarted {
            self.correlation = draft.correlation_id.clone();
        }
        if let Some(at) = &draft.step
            && let Some(memo) = emitted(&fact, draft).or_else(|| written(&fact, draft))
        {
            self.remember(at, memo);
        }
    }

    pub fn apply_fact(&mut self, fact: &Fact, ms: Millis) {
        self.len += 1;
        self.updated_ms = ms;
        if !matches!(fact, Fact::Entered { .. } | Fact::Joined { .. }) {
            self.latest = None;
        }
        match fact {
            Fact::Started(started) => self.begin(started, ms),
            Fact::Completed { result, .. } => {
                self.result = Some(result.clone());
                self.end(RunStatus::Completed, ms);
            }
            Fact::Failed { error, .. } => {
                self.error = Some(error.clone());
                self.cancellation = None;
                self.end(RunStatus::Failed, ms);
            }
            Fact::Cancelled { cancellation, .. } => {
                self.cancellation = Some(cancellation.clone());
                self.end(RunStatus::Cancelled, ms);
            }
            Fact::Paused { .. } => self.paused = true,
            Fact::Resumed => self.paused = false,
            Fact::Forked { deadline } => self.forked(*deadline),
            Fact::StepStarted(at) => self.step_started(at, ms),
            Fact::StepCompleted {
                at,
                result,
                output_key,
                next,
                compensation,
                emits,
            } => {
                let Some(visit) = self.leave(at, VisitStatus::Completed, ms) else {
                    return;
                };
                if let (Some(key), Some(value)) = (output_key, result) {
                    self.write(&visit, key, value.clone());
                }
                if let Some(by) = compensation {
                    let (visit, by, result) = (visit.key.clone(), by.clone(), result.clone());
                    self.undo.push(Undo { visit, by, result });
                }
                let is_free = |kind: &&Name| EventType::parse(kind).is_free();
                let to_emit = emits.iter().filter(is_free).map(|kind| ToEmit {
                    visit: visit.key.clone(),
                    attempt: at.attempt,
                    kind: kind.clone(),
                    data: result.clone(),
                });
                self.to_emit.extend(to_emit);
                match next {
                    Some(next) => self.enter(next, From::of(visit), ms),
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
                self.again(at, *until_ms, |visit| {
                    visit.failures = visit.failures.saturating_add(1);
                });
            }
            Fact::StepFailed {
                at, error, next, ..
            } => self.step_failed(at, error, next.as_ref(), ms),
            Fact::StepRetry { at, lost: true, .. } => {
                self.again(at, 0, |visit| {
                    visit.losses = visit.losses.saturating_add(1);
                });
            }
            // Scheduled by the step.failed before it.
            Fact::StepRetry { .. } => {}
            Fact::StepResumed { at, value, .. } => self.resume(at, value.as_ref()),
            Fact::Await { at, awaiting } => self.wait(at, Wait::Await(awaiting.clone()), ms),
            Fact::AwaitTimeout { at, next, .. } => self.await_timeout(at, next.as_ref(), ms),
            Fact::Entered {
                at,
                input,
                joined,
                undoes,
            } => self.entered(at, input.as_ref(), *joined, undoes.as_ref(), ms),
            Fact::Joined { step, kind, input } => {
                let input = input.clone().or_else(|| self.latest.clone());
                self.held.push(Held {
                    step: step.clone(),
                    kind: kind.clone(),
                    input: input.unwrap_or_else(Json::null),
                });
            }
            Fact::Memo { at, memo } => self.remember(at, memo.clone()),
            Fact::Emitted { at, kind, payload } => {
                if let Some(at) = at {
                    self.emitted(at, kind);
                }
                self.latest = Some(payload.clone());
            }
            Fact::Compensating { error } => {
                self.error = Some(error.clone());
                self.cancellation = None;
                self.deadline = None;
                self.compensating = true;
                self.uncounted = self.step_count;
                self.held.clear();
            }
            Fact::StepCancelled { at, cancellation } => {
                let visit = self.leave(at, VisitStatus::Cancelled, ms);
                if visit.is_some_and(|visit| visit.branch.is_none()) {
                    self.cancellation = Some(cancellation.clone());
                }
            }
            Fact::AwaitTime {
                at,
                until_ms,
                reason,
                output,
                next,
            } => {
                let wait = Wait::Time {
                    until_ms: *until_ms,
                    reason: reason.clone(),
                    output: output.clone(),
                    next: next.clone(),
                };
                self.wait(at, wait, ms);
            }
            Fact::AwaitRun { at, run, flow, .. } => {
                let (run, flow) = (run.clone(), flow.clone());
                self.wait(at, Wait::Run { run, flow }, ms);
            }
            Fact::AwaitBranches { at, fork } => self.fork(at, fork, ms),
            Fact::StateSet { key, value } => self.state.set(key, value.clone()),
            Fact::StateDelete { key } => self.state.delete(key),
            Fact::StateBatch(operations) => operations.iter().for_each(|op| self.operate(op)),
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
        self.queued = started.queued.clone();
        self.chain = started.chain;
        self.enter(&started.next, From::default(), ms);
    }

    fn end(&mut self, status: RunStatus, ms: Millis) {
        self.status = status;
        self.ended_ms = Some(ms);
        self.visits.clear();
        self.held.clear();
        self.undo.clear();
        self.to_emit.clear();
        self.paused = false;
    }

    fn forked(&mut self, deadline: Option<Millis>) {
        self.deadline = deadline;
        self.parent = None;
        for visit in self.visits.iter_mut() {
            // What another run has asked for answers to that run.
            visit.forget_doors();
            let waits_there = matches!(visit.wait, Some(Wait::Run { .. } | Wait::Await(_)));
            if visit.status != VisitStatus::Running && !waits_there {
                continue;
            }
            let is_queued = self.queued.contains(&visit.key.step);
            let job = is_queued.then_some(Wait::Job { until_ms: None });
            // What waited before its handler began waits anew.
            (visit.status, visit.wait) = match visit.attempt {
                0 => (VisitStatus::Pending, job),
                _ => (
                    VisitStatus::Retrying,
                    job.or(Some(Wait::Backoff { until_ms: 0 })),
                ),
            };
            if let Some(step) = self.steps.get_mut(&visit.key.step) {
                step.status = visit.status;
            }
        }
    }

    pub(super) fn enter(&mut self, step: &Name, from: From, ms: Millis) {
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
        summary.visits = summary.visits.saturating_add(1);
        summary.status = VisitStatus::Pending;
        summary.attempt = 0;
        let key = VisitKey {
            step: step.clone(),
            visit: summary.visits,
        };
        let From {
            branch,
            caught,
            input,
            undoes,
        } = from;
        self.visits.push(Visit {
            key,
            status: VisitStatus::Pending,
            attempt: 0,
            failures: 0,
            losses: 0,
            branch,
            caught,
            since_ms: ms,
            wait: self.job_of(step, None),
            input,
            awaited: None,
            journal: Vec::new(),
            undoes,
        });
    }

    /// What a visit of a step waits for before its attempt can begin: its job, if it runs as one.
    fn job_of(&self, step: &Name, until_ms: Option<Millis>) -> Option<Wait> {
        let is_queued = self.queued.contains(step);
        is_queued.then_some(Wait::Job { until_ms })
    }

    fn entered(
        &mut self,
        at: &StepRef,
        input: Option<&Json>,
        joined: bool,
        undoes: Option<&VisitKey>,
        ms: Millis,
    ) {
        let input = match joined {
            true => Some(self.take_held(&at.name)),
            false => input.cloned().or_else(|| self.latest.clone()),
        };
        if let Some(undone) = undoes {
            self.undo.retain(|undo| undo.visit != *undone);
        }
        let from = From {
            input,
            undoes: undoes.cloned(),
            ..From::default()
        };
        self.enter(&at.name, from, ms);
    }

    /// One event of each kind that a step has kept, the oldest of each, as one object.
    fn take_held(&mut self, step: &Name) -> Json {
        let mut taken: IndexMap<Name, Json> = IndexMap::new();
        self.held.retain(|held| {
            let takes = held.step == *step && !taken.contains_key(&held.kind);
            if takes {
                taken.insert(held.kind.clone(), held.input.clone());
            }
            !takes
        });
        Json::of(&taken)
    }

    fn resume(&mut self, at: &StepRef, value: Option<&Json>) {
        let job = self.job_of(&at.name, None);
        let Some(visit) = self.visits.get_mut(&VisitKey::of(at)) else {
            return;
        };
        let wait = visit.wait.take();
        match wait {
            Some(Wait::Await(awaiting)) if awaiting.in_code => {
                visit.go_on(answer(&awaiting, value.cloned()), job);
            }
            // Declared before the handler, which has still to begin.
            Some(Wait::Await(_)) => {
                visit.awaited = Some(value.cloned().unwrap_or_else(Json::null));
                visit.wait = job;
            }
            _ => {}
        }
        let status = match visit.attempt {
            0 => VisitStatus::Pending,
            _ => VisitStatus::Running,
        };
        self.change(at, status, |_| {});
    }

    fn await_timeout(&mut self, at: &StepRef, next: Option<&Name>, ms: Millis) {
        if let Some(next) = next {
            // A visit that ends before its handler began is a step that the run has made, too.
            self.step_count += u64::from(at.attempt == 0);
            if let Some(visit) = self.leave(at, VisitStatus::Timeout, ms) {
                let input = visit.input.clone();
                let from = From {
                    input,
                    ..From::of(visit)
                };
                self.enter(next, from, ms);
            }
            return;
        }
        let job = self.job_of(&at.name, None);
        self.change(at, VisitStatus::Running, |visit| {
            if let Some(Wait::Await(awaiting)) = visit.wait.take()
                && awaiting.in_code
            {
                let mut memo = answer(&awaiting, None);
                memo.error = Some(Json::of(&timed_out(&awaiting)));
                visit.go_on(memo, job);
            }
        });
    }

    /// What a finished visit had to emit is there.
    fn emitted(&mut self, at: &StepRef, kind: &Name) {
        let key = VisitKey::of(at);
        let is_it = |due: &ToEmit| due.visit == key && due.kind == *kind;
        if let Some(found) = self.to_emit.iter().position(is_it) {
            self.to_emit.remove(found);
        }
    }

    fn remember(&mut self, at: &StepRef, memo: Memo) {
        if let Some(visit) = self.visits.get_mut(&VisitKey::of(at)) {
            visit.journal.push(memo);
        }
    }

    fn step_started(&mut self, at: &StepRef, ms: Millis) {
        if at.attempt == 1 {
            self.step_count += 1;
            let undoes = self.visit(&VisitKey::of(at)).is_some_and(Visit::undoes);
            self.uncounted += u64::from(undoes);
        }
        self.not_before = None;
        let job = self.job_of(&at.name, None);
        self.change(at, VisitStatus::Running, |visit| {
            visit.attempt = at.attempt;
            visit.since_ms = ms;
            visit.wait = job;
        });
        self.summarise(&at.name, |step| {
            step.attempt = at.attempt;
            step.started_ms = Some(ms);
            step.ended_ms = None;
            step.error = None;
        });
    }

    /// A failure that is not tried again: its route takes it, or the branch around it, or the run.
    fn step_failed(&mut self, at: &StepRef, error: &Failure, next: Option<&Name>, ms: Millis) {
        self.summarise(&at.name, |step| step.error = Some(error.clone()));
        let Some(visit) = self.leave(at, VisitStatus::Failed, ms) else {
            return;
        };
        // A route or a branch may be shared by many steps.
        let error = error.clone().at(&at.name);
        match next {
            Some(next) => {
                let caught = [("error".to_owned(), Json::of(&error))];
                let caught = Some(Arc::new(caught.into_iter().collect()));
                let from = From {
                    caught,
                    ..From::of(visit)
                };
                self.enter(next, from, ms);
            }
            None if visit.branch.is_some() => self.branch_failed(&visit, error, ms),
            // The first failure is the run's; one while it undoes things changes nothing.
            None => {
                self.error.get_or_insert(error);
            }
        }
    }

    /// The visit is to be tried once more, at a time.
    fn again(&mut self, at: &StepRef, until_ms: Millis, count: impl FnOnce(&mut Visit)) {
        let job = self.job_of(&at.name, Some(until_ms));
        self.change(at, VisitStatus::Retrying, |visit| {
            count(visit);
            visit.wait = Some(job.unwrap_or(Wait::Backoff { until_ms }));
        });
    }

    pub(super) fn wait(&mut self, at: &StepRef, wait: Wait, ms: Millis) {
        self.change(at, VisitStatus::Waiting, |visit| {
            visit.wait = Some(wait);
            visit.since_ms = ms;
        });
    }

    fn operate(&mut self, operation: &StateOp) {
        let StateOp { kind, key, value } = operation;
        match kind {
            OpKind::Set => {
                let value = value.clone().unwrap_or_else(Json::null);
                self.state.set(key, value);
            }
            OpKind::Delete => self.state.delete(key),
        }
    }

    fn change(&mut self, at: &StepRef, status: VisitStatus, edit: impl FnOnce(&mut Visit)) {
        if let Some(visit) = self.visits.get_mut(&VisitKey::of(at)) {
            visit.status = status;
            edit(visit);
        }
        self.summarise(&at.name, |step| step.status = status);
    }

    fn leave(&mut self, at: &StepRef, status: VisitStatus, ms: Millis) -> Option<Visit> {
        let visit = self.visits.remove(&VisitKey::of(at))?;
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
        } else if !self.visits.is_empty() && self.visits.iter().all(waits) {
            RunStatus::Waiting
        } else if self.step_count == 0 {
            RunStatus::Pending
        } else {
            RunStatus::Running
        };
    }
}
