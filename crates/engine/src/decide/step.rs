//! Attempts: how they begin, and what each outcome leads to.

use riverrun_types::{Json, Name, VisitStatus, time::iso};

use super::Turn;
use crate::{Failure, Outcome, PlanStep, Visit, VisitKey, code, fact::Fact, retry};

impl Turn<'_> {
    pub(super) fn begin(&mut self, key: &VisitKey) {
        let Some(visit) = self.state.visit(key) else {
            return;
        };
        if !self.state.may_begin(visit, self.now) {
            return;
        }
        let at = visit.next_attempt();
        if self.is_overdue() {
            return self.time_out();
        }
        let limit = self.plan.limits.max_steps;
        if at.attempt == 1 && self.state.step_count >= limit {
            let message = format!(
                "the run has made {limit} steps, the most that its flow's limits.maxSteps allows; each item of a map counts"
            );
            return self.fail_run(Failure::new(code::MAX_STEPS, message));
        }
        self.emit(Fact::StepStarted(at));
        if self.plan.step(&key.step).is_none() {
            let message = format!("the flow has no step {:?}", key.step);
            let failure = Failure::new(code::STEP_NOT_FOUND, message).permanent();
            self.finished(key, Outcome::Failure(failure), 0.0);
        }
    }

    /// Ends the attempt that runs, if it is this one.
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
                let failure = Failure::new(code::INPUT_ERROR, message).permanent();
                self.fail(&visit, failure, jitter);
            }
            Outcome::Wait { until_ms, reason } => {
                self.emit(Fact::AwaitTime {
                    at: visit.at(),
                    until_ms,
                    reason,
                });
                // A wait for a time that is over is over.
                self.resume_due();
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

    /// Ends a visit well, unless what it wrote or where it leads is not allowed: then it fails.
    /// Says whether it ended well.
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
        self.emit(Fact::StepCompleted {
            at: visit.at(),
            result: output,
            output_key,
            next,
        });
        true
    }

    /// The one way in which an attempt fails: again later, or on to `onFailure`, or up.
    pub(super) fn fail(&mut self, visit: &Visit, failure: Failure, jitter: f64) {
        let failure = self.fitted(failure);
        let policy = self
            .plan
            .step(&visit.key.step)
            .and_then(|step| step.retry.as_ref());
        let failures = visit.failures.saturating_add(1);
        if let Some(delay_ms) = retry::after_failure(policy, &failure, failures, jitter) {
            let reason = format!("{}: {}", failure.code, failure.message);
            self.emit(Fact::StepFailed {
                at: visit.at(),
                error: failure,
                retry_at: Some(self.now.saturating_add(delay_ms)),
                next: None,
            });
            return self.emit(Fact::StepRetry {
                at: visit.next_attempt(),
                reason,
                delay_ms,
                lost: false,
            });
        }
        let next = self
            .transition(visit, |step| &step.on_failure)
            .filter(|next| self.plan.step(next).is_some());
        if next.is_none() {
            self.branch_ended(visit);
        }
        self.emit(Fact::StepFailed {
            at: visit.at(),
            error: failure,
            retry_at: None,
            next,
        });
        // Nothing caught it.
        if let Some(error) = self.state.error.clone() {
            self.fail_run(error);
        }
    }
}
