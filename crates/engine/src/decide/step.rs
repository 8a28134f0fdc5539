//! Attempts: how they begin, and the effects of each outcome.

use riverrun_types::{
    ErrorCode, Json, Millis, Name, VisitStatus,
    event::{StepAwaitTime, StepCompleted, StepFailed, StepRetry, StepStarted},
    time::iso,
};

use super::Decider;
use crate::{Cancellation, Fact, Failure, Outcome, PlanStep, Visit, VisitKey, Wait, retry};

impl Decider<'_> {
    pub(super) fn begin(&mut self, key: &VisitKey) {
        let Some(visit) = self.state.visit(key) else {
            return;
        };
        if !self.state.may_begin(visit, self.now) || self.plan.must_await(visit) {
            return;
        }
        let (at, undoes) = (visit.next_attempt(), visit.undoes());
        if self.is_overdue() {
            return self.time_out();
        }
        if !undoes && !self.may_step(at.attempt) {
            return;
        }
        self.emit(Fact::StepStarted(at, StepStarted::default()));
        if self.plan.step(&key.step).is_none() {
            let message = format!("the flow has no step {:?}", key.step);
            let failure = Failure::new(ErrorCode::StepNotFound, message).permanent();
            self.finished(key, Outcome::Failure(failure), 0.0);
        }
    }

    /// The job of a visit has begun an attempt. Attempts between it and the last recorded one were
    /// lost with their worker.
    pub(super) fn began(&mut self, key: &VisitKey, attempt: u32, at_ms: Millis) {
        self.catch_up(key, attempt, at_ms);
        self.settle();
    }

    fn catch_up(&mut self, key: &VisitKey, attempt: u32, at_ms: Millis) {
        let is_job = |visit: &&Visit| matches!(visit.wait, Some(Wait::Job { .. }));
        loop {
            let Some(visit) = self.state.visit(key).filter(is_job).cloned() else {
                return;
            };
            if self.plan.must_await(&visit) {
                return;
            }
            if visit.attempt >= attempt || self.state.status.is_ended() {
                return;
            }
            match visit.status {
                VisitStatus::Running if !self.lose(&visit) => return,
                VisitStatus::Running => {}
                _ => {
                    if self.is_overdue() {
                        return self.time_out();
                    }
                    if !visit.undoes() && !self.may_step(visit.attempt.saturating_add(1)) {
                        return;
                    }
                    self.started(&visit, attempt, at_ms);
                }
            }
        }
    }

    /// Records the start of a visit's next attempt. The reported `attempt` began at `at_ms`: the
    /// event has that time, unless an earlier event is later. Then its data holds the time.
    fn started(&mut self, visit: &Visit, attempt: u32, at_ms: Millis) {
        let at = visit.next_attempt();
        if at.attempt != attempt || at_ms > self.now {
            return self.emit(Fact::StepStarted(at, StepStarted::default()));
        }
        let ms = at_ms.max(self.state.updated_ms);
        let at_ms = (at_ms != ms).then_some(at_ms);
        self.emit_at(Fact::StepStarted(at, StepStarted { at_ms }), ms);
    }

    /// Whether the run may take one more step; if not, it ends. Visits that undo may always begin:
    /// at most one for each finished visit.
    pub(super) fn may_step(&mut self, attempt: u32) -> bool {
        let limit = self.plan.limits.max_steps;
        if attempt > 1 || self.state.counted_steps() < limit {
            return true;
        }
        let message = format!(
            "the run has made {limit} steps, the most that its flow's limits.maxSteps allows; each item of a map counts"
        );
        match self.state.compensating {
            false => self.fail_run(Failure::new(ErrorCode::MaxSteps, message)),
            true => self.undo_next(&message),
        }
        false
    }

    /// A visit that undoes leads to no further steps; the next is undone.
    fn undo_next(&mut self, reason: &str) {
        let cancellation = Cancellation {
            source: "system".to_owned(),
            reason: Some(reason.to_owned()),
        };
        self.cancel_visits(&cancellation, |_, _| true);
        self.settle();
    }

    /// Ends the running attempt, if it is this one.
    pub(super) fn finished_attempt(
        &mut self,
        key: &VisitKey,
        attempt: u32,
        outcome: Outcome,
        jitter: f64,
    ) {
        let visit = self.state.visit(key);
        if visit.is_some_and(|v| v.status == VisitStatus::Running && v.attempt == attempt) {
            self.finished(key, outcome, jitter);
        }
    }

    fn finished(&mut self, key: &VisitKey, outcome: Outcome, jitter: f64) {
        let Some(visit) = self.state.visit(key).cloned() else {
            return;
        };
        match outcome {
            Outcome::Success { output, next } => {
                let next = next.unwrap_or_else(|| self.transition(&visit, |step| &step.on_success));
                self.complete(&visit, output, next, jitter);
            }
            Outcome::Failure(failure) => self.fail(&visit, failure, jitter),
            Outcome::Wait { until_ms, .. } if self.is_too_far(until_ms) => {
                let message = format!("{} is more than ten years away", iso(until_ms));
                let failure = Failure::new(ErrorCode::InputError, message).permanent();
                self.fail(&visit, failure, jitter);
            }
            // The message that reports the end of a job ends the job, too.
            Outcome::Park(parked) => self.emit_parked(&visit, parked),
            Outcome::Await(awaiting) => self.await_in_code(&visit, awaiting, jitter),
            Outcome::Wait {
                until_ms,
                reason,
                output,
                next,
            } => {
                let data = StepAwaitTime {
                    until_ms: Some(until_ms),
                    reason,
                    output,
                    next,
                    ..StepAwaitTime::default()
                };
                self.emit(Fact::StepAwaitTime(visit.at(), data));
                // A wait for a time in the past ends at once.
                self.resume_if_due(key);
            }
            Outcome::Fork(fork) => self.fork(&visit, fork, jitter),
            Outcome::SubFlow(sub) => self.sub_flow(&visit, sub, jitter),
        }
        self.settle();
    }

    pub(super) fn transition(
        &self,
        visit: &Visit,
        pick: impl Fn(&PlanStep) -> &Option<Name>,
    ) -> Option<Name> {
        let step = self.plan.step(&visit.key.step)?;
        pick(step).clone()
    }

    /// Completes a visit whose handler left its result to others, after the delay of the step's
    /// definition. Returns whether it did not fail.
    pub(super) fn complete_in_time(
        &mut self,
        visit: &Visit,
        output: Json,
        next: Option<Name>,
        jitter: f64,
    ) -> bool {
        let step = self.plan.step(&visit.key.step);
        let Some(pause_ms) = step.and_then(|step| step.pause_ms) else {
            return self.complete(visit, Some(output), next, jitter);
        };
        if let Err(failure) = self.check_output(visit, Some(&output), next.as_deref()) {
            self.fail(visit, failure, jitter);
            return false;
        }
        let data = StepAwaitTime {
            until_ms: Some(self.now.saturating_add(pause_ms)),
            reason: Some("declared".to_owned()),
            output: Some(output),
            next: Some(next),
            ..StepAwaitTime::default()
        };
        self.emit(Fact::StepAwaitTime(visit.at(), data));
        self.resume_due();
        true
    }

    /// Completes a visit, unless its writes or its target are not allowed: then it fails. Returns
    /// whether it completed.
    pub(super) fn complete(
        &mut self,
        visit: &Visit,
        output: Option<Json>,
        next: Option<Name>,
        jitter: f64,
    ) -> bool {
        if let Err(failure) = self.check_output(visit, output.as_ref(), next.as_deref()) {
            self.fail(visit, failure, jitter);
            return false;
        }
        let output_key = match &output {
            Some(_) => self.plan.step(&visit.key.step),
            None => None,
        };
        let output_key = output_key.and_then(|step| step.output_key.clone());
        if next.is_none() {
            self.branch_ended(visit);
        }
        let step = self.plan.step(&visit.key.step);
        let emits = step.map_or_else(Vec::new, |step| step.emits.clone());
        let compensation = self.compensation(visit);
        self.close_callbacks(visit, "the step has ended");
        let data = StepCompleted {
            result: output,
            output_key,
            next,
            compensation,
            emits,
        };
        self.emit(Fact::StepCompleted(visit.at(), data));
        true
    }

    /// The step that undoes a visit. Visits that undo are not undone.
    pub(super) fn compensation(&self, visit: &Visit) -> Option<Name> {
        let step = self.plan.step(&visit.key.step)?;
        let undo = step.compensation.as_ref().filter(|_| !visit.undoes());
        undo.map(|undo| Name::from(undo.step.as_str()))
    }

    /// The only way in which an attempt fails: tried again later, or on to `onFailure`, or up.
    pub(super) fn fail(&mut self, visit: &Visit, failure: Failure, jitter: f64) {
        let failure = self.fitted(failure);
        let step = self.plan.step(&visit.key.step);
        let policy = step.and_then(|step| step.retry.as_ref());
        let policy = policy.or(self.retry.as_ref());
        let failures = visit.failures.saturating_add(1);
        if let Some(delay_ms) = retry::after_failure(policy, &failure, failures, jitter) {
            let reason = format!("{}: {}", failure.code, failure.message);
            let retry_at = Some(self.now.saturating_add(delay_ms));
            let failed = StepFailed::new(failure, retry_at, None);
            self.emit(Fact::StepFailed(visit.at(), failed));
            self.again.push(visit.key.clone());
            let retry = StepRetry {
                reason,
                delay_ms,
                lost: false,
            };
            return self.emit(Fact::StepRetry(visit.next_attempt(), retry));
        }
        let next = self
            .transition(visit, |step| &step.on_failure)
            .filter(|next| self.plan.step(next).is_some());
        if next.is_none() {
            self.branch_ended(visit);
        }
        self.close_callbacks(visit, "the step has failed");
        let failed = StepFailed::new(failure, None, next);
        self.emit(Fact::StepFailed(visit.at(), failed));
        self.uncaught();
    }
}
