//! The changes of facts to visits: entered, begun, failed, waiting, left.

use std::sync::Arc;

use indexmap::IndexMap;
use riverrun_types::{
    EventType, Json, Millis, Name, Parked, StepRef, VisitStatus,
    event::{StepCancelled, StepCompleted, StepEntered, StepFailed, StepJoined},
};

use super::From;
use crate::run::{
    HeldEvent, ParkedVisits, RunState, StepSummary, ToEmit, Undo, Visit, VisitKey, Wait,
};

impl RunState {
    pub(in crate::run) fn enter(&mut self, step: &Name, from: From, ms: Millis) {
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
            so_far,
            entered_by,
        } = from;
        let mut visit = Visit {
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
            so_far,
            entered_by,
            journal: Vec::new(),
            retries: Vec::new(),
            undoes,
            found: None,
            around: Vec::new(),
        };
        self.keep_found(&mut visit);
        self.visits.push(visit);
    }

    /// The wait of a step's visit before its attempt can begin: its job, if it runs as one.
    pub(super) fn job_of(&self, step: &Name, until_ms: Option<Millis>) -> Option<Wait> {
        let is_queued = self.queued.contains(step);
        is_queued.then_some(Wait::Job { until_ms })
    }

    pub(super) fn entered(&mut self, at: &StepRef, entered: &StepEntered, ms: Millis) {
        let StepEntered {
            input,
            joined,
            undoes,
        } = entered;
        let input = match joined {
            true => Some(self.take_held(&at.name)),
            false => input.clone().or_else(|| self.latest.clone()),
        };
        if let Some(undone) = undoes {
            self.undo.retain(|undo| undo.visit != *undone);
        }
        let entered_by = self.latest_id.clone().filter(|_| !joined);
        let from = From {
            input,
            entered_by,
            undoes: undoes.clone(),
            ..From::default()
        };
        self.enter(&at.name, from, ms);
    }

    /// An event is kept until there is one of each kind.
    pub(super) fn joined(&mut self, joined: &StepJoined) {
        let StepJoined { step, kind, input } = joined;
        let input = input.clone().or_else(|| self.latest.clone());
        self.held.push(HeldEvent {
            step: step.clone(),
            kind: kind.clone(),
            input: input.unwrap_or_else(Json::null),
        });
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

    pub(super) fn step_started(&mut self, at: &StepRef, ms: Millis) {
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

    pub(super) fn step_completed(&mut self, at: &StepRef, completed: &StepCompleted, ms: Millis) {
        let Some(visit) = self.leave(at, VisitStatus::Completed, ms) else {
            return;
        };
        let result = &completed.result;
        if let (Some(key), Some(value)) = (&completed.output_key, result) {
            self.write(&visit, key, value.clone());
        }
        if let Some(by) = &completed.compensation {
            let (visit, by, result) = (visit.key.clone(), by.clone(), result.clone());
            self.undo.push(Undo { visit, by, result });
        }
        let is_free = |kind: &&Name| EventType::parse(kind).is_free();
        let to_emit = completed.emits.iter().filter(is_free);
        let to_emit = to_emit.map(|kind| ToEmit {
            visit: visit.key.clone(),
            attempt: at.attempt,
            kind: kind.clone(),
            data: result.clone(),
        });
        self.to_emit.extend(to_emit);
        match &completed.next {
            Some(next) => self.enter(next, From::of(visit), ms),
            None => self.path_ended(&visit, result.clone(), ms),
        }
    }

    pub(super) fn step_cancelled(&mut self, at: &StepRef, cancelled: &StepCancelled, ms: Millis) {
        let Some(visit) = self.leave(at, VisitStatus::Cancelled, ms) else {
            return;
        };
        if visit.branch.is_none() {
            self.cancellation = Some(cancelled.cancellation());
        }
        if let (Some(by), Some(Wait::Time { output, .. })) = (&cancelled.compensation, visit.wait) {
            let (visit, by, result) = (visit.key, by.clone(), output);
            self.undo.push(Undo { visit, by, result });
        }
    }

    /// A failure is tried again; or its `onFailure` route handles it, or the branch around it, or
    /// the run.
    pub(super) fn step_failed(&mut self, at: &StepRef, failed: &StepFailed, ms: Millis) {
        let error = &failed.error;
        self.summarise(&at.name, |step| step.error = Some(error.clone()));
        if let Some(until_ms) = failed.retry_at {
            return self.again(at, until_ms, |visit| {
                visit.failures = visit.failures.saturating_add(1);
                visit.losses = 0;
            });
        }
        let Some(visit) = self.leave(at, VisitStatus::Failed, ms) else {
            return;
        };
        // A route or a branch may be shared by many steps.
        let error = error.clone().at(&at.name);
        match &failed.next {
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
            // The first failure is the run's; a failure while it undoes steps changes nothing.
            None => {
                self.error.get_or_insert(error);
            }
        }
    }

    /// The visit is to be tried once more, at a time.
    pub(super) fn again(&mut self, at: &StepRef, until_ms: Millis, count: impl FnOnce(&mut Visit)) {
        let job = self.job_of(&at.name, Some(until_ms));
        self.change(at, VisitStatus::Retrying, |visit| {
            count(visit);
            visit.wait = Some(job.unwrap_or(Wait::Backoff { until_ms }));
        });
    }

    /// The visit waits until it is released.
    pub(super) fn park(&mut self, at: &StepRef, parked: &Parked, ms: Millis) {
        let is_new = |visit: &Visit| visit.parked().is_none();
        if self.visit(&VisitKey::of(at)).is_some_and(is_new) {
            let none = ParkedVisits {
                count: 0,
                since_ms: ms,
            };
            let all = self.parked.get_or_insert(none);
            all.count = all.count.saturating_add(1);
        }
        self.wait(at, Wait::Parked(parked.clone()), ms);
    }

    /// A parked visit begins its attempt anew, at once.
    pub(super) fn release(&mut self, at: &StepRef, ms: Millis) {
        let Some(visit) = self.visit(&VisitKey::of(at)) else {
            return;
        };
        if visit.parked().is_none() {
            return;
        }
        let job = self.job_of(&at.name, None);
        let (status, wait) = match visit.attempt {
            0 => (VisitStatus::Pending, job),
            _ => {
                let at_once = Wait::Backoff { until_ms: 0 };
                (VisitStatus::Retrying, job.or(Some(at_once)))
            }
        };
        self.change(at, status, |visit| {
            visit.losses = 0;
            visit.wait = wait;
            visit.since_ms = ms;
        });
        self.one_parked_less(ms);
    }

    /// One parked visit fewer. The time until the last of them went on does not count for the run.
    fn one_parked_less(&mut self, ms: Millis) {
        let Some(all) = &mut self.parked else {
            return;
        };
        all.count = all.count.saturating_sub(1);
        if all.count == 0 {
            let stood_ms = ms.saturating_sub(all.since_ms);
            self.deadline = self.deadline.map(|at| at.saturating_add(stood_ms));
            self.parked = None;
        }
    }

    pub(in crate::run) fn wait(&mut self, at: &StepRef, wait: Wait, ms: Millis) {
        self.change(at, VisitStatus::Waiting, |visit| {
            visit.wait = Some(wait);
            visit.since_ms = ms;
        });
    }

    pub(super) fn change(
        &mut self,
        at: &StepRef,
        status: VisitStatus,
        edit: impl FnOnce(&mut Visit),
    ) {
        if let Some(visit) = self.visits.get_mut(&VisitKey::of(at)) {
            visit.status = status;
            edit(visit);
        }
        self.summarise(&at.name, |step| step.status = status);
    }

    pub(super) fn leave(&mut self, at: &StepRef, status: VisitStatus, ms: Millis) -> Option<Visit> {
        let visit = self.visits.remove(&VisitKey::of(at))?;
        self.drop_found(&visit);
        if visit.parked().is_some() {
            self.one_parked_less(ms);
        }
        self.drop_scopes(&visit);
        self.summarise(&at.name, |step| {
            step.status = status;
            step.ended_ms = Some(ms);
        });
        Some(visit)
    }

    pub(super) fn summarise(&mut self, step: &Name, edit: impl FnOnce(&mut StepSummary)) {
        if let Some(summary) = self.steps.get_mut(step) {
            edit(summary);
        }
    }
}
