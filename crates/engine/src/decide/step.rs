//! Attempts: how they begin, and what each outcome leads to.

use riverrun_types::{Json, Millis, Name, RunId, VisitStatus, time::iso};
use serde_json::json;

use super::{Child, Turn};
use crate::{
    Failure, Fork, Lineage, Outcome, SubFlow, Visit, VisitKey, Wait, code, fact::Fact, retry,
};

/// Sub-flows inside sub-flows, at most: a flow that starts itself ends here.
const MAX_DEPTH: u32 = 32;

impl Turn<'_> {
    pub(super) fn begin(&mut self, key: &VisitKey) {
        let Some(visit) = self
            .state
            .runnable(self.now)
            .find(|visit| visit.key == *key)
        else {
            return;
        };
        let mut at = visit.at();
        at.attempt += 1;
        let limit = self.plan.limits.max_steps;
        if at.attempt == 1 && self.state.step_count >= limit {
            let message = format!("the run has made {limit} steps, the most that its flow allows");
            return self.fail_run(Failure::new(code::MAX_STEPS, message));
        }
        self.emit(Fact::StepStarted(at));
    }

    pub(super) fn finished(&mut self, key: &VisitKey, attempt: u32, outcome: Outcome, jitter: f64) {
        let Some(visit) = self.state.visit(key) else {
            return;
        };
        if visit.status != VisitStatus::Running || visit.attempt != attempt {
            return;
        }
        let visit = visit.clone();
        match outcome {
            Outcome::Success { output, next } => {
                let next = next.unwrap_or_else(|| self.transition(&visit, |step| &step.on_success));
                self.complete(&visit, output, next, jitter);
            }
            Outcome::Failure(failure) => self.fail(&visit, failure, jitter),
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

    pub(super) fn child_ended(
        &mut self,
        key: &VisitKey,
        child: &RunId,
        result: Result<Json, Failure>,
    ) {
        let Some(visit) = self.state.visit(key) else {
            return;
        };
        if !matches!(&visit.wait, Some(Wait::Run { run, .. }) if run == child) {
            return;
        }
        let visit = visit.clone();
        let reason = match &result {
            Ok(_) => format!("run {child} completed"),
            Err(failure) => format!("run {child} ended with {}", failure.code),
        };
        let waited_ms = self.now - visit.since_ms;
        self.emit(Fact::StepResumed {
            at: visit.at(),
            reason,
            waited_ms,
        });
        match result {
            Ok(output) => {
                let next = self.after_wait(&visit);
                self.complete(&visit, Some(output), next, 0.0);
            }
            Err(failure) => self.fail(&visit, failure, 0.0),
        }
        self.settle();
    }

    /// Resumes the waits whose time has come.
    pub(super) fn resume_due(&mut self) {
        let now = self.now;
        let due = |visit: &&Visit| matches!(visit.wait, Some(Wait::Time { until_ms, .. }) if until_ms <= now);
        while let Some(visit) = self.state.visits.iter().find(due).cloned() {
            let waited_ms = now - visit.since_ms;
            let reason = "time reached".to_owned();
            self.emit(Fact::StepResumed {
                at: visit.at(),
                reason,
                waited_ms,
            });
            let next = self.after_wait(&visit);
            self.complete(&visit, None, next, 0.0);
        }
    }

    /// A resumed wait goes to `onResume`, else to `onSuccess`.
    fn after_wait(&self, visit: &Visit) -> Option<Name> {
        self.transition(visit, |step| &step.on_resume)
            .or_else(|| self.transition(visit, |step| &step.on_success))
    }

    fn transition(
        &self,
        visit: &Visit,
        pick: impl Fn(&crate::PlanStep) -> &Option<Name>,
    ) -> Option<Name> {
        self.plan
            .step(&visit.key.step)
            .and_then(|step| pick(step).clone())
    }

    /// Ends a visit well, unless what it wrote or where it leads is not allowed.
    pub(super) fn complete(
        &mut self,
        visit: &Visit,
        output: Option<Json>,
        next: Option<Name>,
        jitter: f64,
    ) {
        let output_key = output
            .as_ref()
            .and_then(|_| self.plan.step(&visit.key.step)?.output_key.clone());
        if let Err(failure) =
            self.check_output(output.as_ref(), output_key.as_ref(), next.as_deref())
        {
            return self.fail(visit, failure, jitter);
        }
        self.emit(Fact::StepCompleted {
            at: visit.at(),
            result: output,
            output_key,
            next,
        });
    }

    fn check_output(
        &self,
        output: Option<&Json>,
        output_key: Option<&riverrun_types::Path>,
        next: Option<&str>,
    ) -> Result<(), Failure> {
        if let Some(next) = next.filter(|next| self.plan.step(next).is_none()) {
            let message = format!("the flow has no step {next:?} to go to");
            return Err(Failure::new(code::INVALID_TRANSITION, message).permanent());
        }
        let Some(output) = output else { return Ok(()) };
        let limits = &self.plan.limits;
        if output.bytes() > limits.max_value_bytes {
            let message = format!(
                "the output has {} bytes; a value may have {}",
                output.bytes(),
                limits.max_value_bytes
            );
            return Err(Failure::new(code::VALUE_TOO_LARGE, message).permanent());
        }
        let Some(key) = output_key else { return Ok(()) };
        let state_bytes = self.state.state.bytes() + output.bytes();
        if state_bytes > limits.max_state_bytes {
            let message = format!(
                "the state would have {state_bytes} bytes; it may have {}",
                limits.max_state_bytes
            );
            return Err(Failure::new(code::STATE_TOO_LARGE, message).permanent());
        }
        let Some(schema) = &self.plan.state_schema else {
            return Ok(());
        };
        let issues = schema.write_issues(&self.state.state, key, output);
        match issues.first() {
            None => Ok(()),
            Some(first) => {
                let message = format!(
                    "writing {key} breaks the state's schema at {:?}: {}",
                    first.path, first.message
                );
                let details = json!({ "issues": issues });
                Err(Failure::new(code::STATE_INVALID, message)
                    .details(details)
                    .permanent())
            }
        }
    }

    /// The one way in which an attempt fails: again later, or on to `onFailure`, or up.
    pub(super) fn fail(&mut self, visit: &Visit, failure: Failure, jitter: f64) {
        let step = self.plan.step(&visit.key.step);
        let policy = step.and_then(|step| step.retry.as_ref());
        let at = visit.at();
        if let Some(delay_ms) = retry::after_failure(policy, &failure, visit.failures + 1, jitter) {
            let retry_at = self.now.saturating_add(delay_ms);
            let reason = format!("{}: {}", failure.code, failure.message);
            let mut again = at.clone();
            again.attempt += 1;
            self.emit(Fact::StepFailed {
                at,
                error: failure,
                retry_at: Some(retry_at),
                next: None,
            });
            self.emit(Fact::StepRetry {
                at: again,
                reason,
                delay_ms,
                lost: false,
            });
            return;
        }
        let next = self
            .transition(visit, |step| &step.on_failure)
            .filter(|next| self.plan.step(next).is_some());
        let caught = next.is_some() || visit.branch.is_some();
        self.emit(Fact::StepFailed {
            at,
            error: failure.clone(),
            retry_at: None,
            next,
        });
        if !caught {
            let step_id = Some(visit.key.step.clone());
            self.fail_run(Failure {
                step_id,
                retryable: None,
                retry_after_ms: None,
                ..failure
            });
        }
    }

    fn fork(&mut self, visit: &Visit, fork: Fork, jitter: f64) {
        let unknown = fork
            .branches
            .iter()
            .find(|spec| self.plan.step(&spec.step).is_none());
        if let Some(spec) = unknown {
            let message = format!("the flow has no step {:?} to branch to", spec.step);
            return self.fail(
                visit,
                Failure::new(code::STEP_NOT_FOUND, message).permanent(),
                jitter,
            );
        }
        self.emit(Fact::AwaitBranches {
            at: visit.at(),
            fork,
        });
    }

    fn sub_flow(&mut self, visit: &Visit, sub: SubFlow, jitter: f64) {
        let depth = self.state.parent.as_ref().map_or(0, |parent| parent.depth) + 1;
        if depth > MAX_DEPTH {
            let message = format!(
                "{MAX_DEPTH} runs already stand above this one: does the flow start itself?"
            );
            return self.fail(
                visit,
                Failure::new(code::SUBFLOW_DEPTH, message).permanent(),
                jitter,
            );
        }
        let SubFlow {
            run,
            flow,
            version,
            input,
            detached,
        } = sub;
        let parent = Lineage {
            run_id: self.run.clone(),
            step: visit.key.step.clone(),
            visit: visit.key.visit,
            depth,
            detached,
        };
        let child = Child {
            run: run.clone(),
            flow: flow.clone(),
            version: version.clone(),
            input,
            parent,
        };
        self.decision.children.push(child);
        if detached {
            let next = self.transition(visit, |step| &step.on_success);
            self.complete(visit, Some(Json::of(&json!({"runId": run}))), next, jitter);
        } else {
            self.emit(Fact::AwaitRun {
                at: visit.at(),
                run,
                flow,
                version,
            });
        }
    }

    /// What runs when its worker is gone is tried again, a bounded number of times.
    pub(super) fn lost(&mut self) {
        self.interrupted("the worker was lost", |visit| {
            visit.status == VisitStatus::Running
        });
        self.settle();
    }

    /// In a copy nothing runs yet, and the original's children answer to the original.
    pub(super) fn forked(&mut self) {
        self.interrupted("forked", |visit| {
            visit.status == VisitStatus::Running || matches!(visit.wait, Some(Wait::Run { .. }))
        });
        self.settle();
    }

    fn interrupted(&mut self, reason: &str, which: impl Fn(&Visit) -> bool) {
        let visits: Vec<Visit> = self
            .state
            .visits
            .iter()
            .filter(|v| which(v))
            .cloned()
            .collect();
        for visit in visits {
            // Failing one may have cancelled the others.
            if self.state.visit(&visit.key).is_none() {
                continue;
            }
            if visit.losses >= retry::MAX_LOSSES {
                let message = format!(
                    "the worker was lost {} times in this visit",
                    visit.losses + 1
                );
                self.fail(
                    &visit,
                    Failure::new(code::WORKER_LOST, message).permanent(),
                    0.0,
                );
                continue;
            }
            let mut at = visit.at();
            at.attempt += 1;
            let reason = reason.to_owned();
            self.emit(Fact::StepRetry {
                at,
                reason,
                delay_ms: 0,
                lost: true,
            });
        }
    }

    pub(super) fn deadline_failure(&self, deadline: Millis) -> Failure {
        let timeout_ms = self.plan.timeout_ms.unwrap_or_default();
        let message = format!(
            "the run did not end within {timeout_ms} ms, by {}",
            iso(deadline)
        );
        Failure::new(code::TIMEOUT, message)
    }
}
