//! Awaits: a visit waits for a time, an event or a callback, as its definition or its code asks.

use riverrun_types::{
    ErrorCode, Json, Name,
    event::{StepAwaitTimeout, StepStarted},
    time::iso,
};

use super::{Decider, How, Over};
use crate::{AwaitFor, Awaiting, Fact, Failure, Visit, VisitKey, Wait, run::timed_out};

impl Decider<'_> {
    /// A visit that has not begun waits first.
    pub(super) fn await_first(&mut self, key: &VisitKey, awaiting: Awaiting) {
        let waits = |visit: &&Visit| self.plan.must_await(visit);
        let Some(visit) = self.state.visit(key).filter(waits).cloned() else {
            return;
        };
        if !visit.undoes() && !self.may_step(1) {
            return;
        }
        let at = visit.at();
        // An await that has timed out already is still stored first: its event may have come before
        // it.
        self.emit(awaiting.fact(at));
    }

    /// A visit that cannot even wait fails.
    pub(super) fn refused(&mut self, key: &VisitKey, failure: Failure) {
        let waits = |visit: &&Visit| self.plan.must_await(visit);
        let Some(visit) = self.state.visit(key).filter(waits) else {
            return;
        };
        let (at, undoes) = (visit.next_attempt(), visit.undoes());
        if !undoes && !self.may_step(at.attempt) {
            return;
        }
        self.emit(Fact::StepStarted(at, StepStarted::default()));
        if let Some(visit) = self.state.visit(key).cloned() {
            self.fail(&visit, failure, 0.0);
        }
        self.settle();
    }

    /// The handler's code waits.
    pub(super) fn await_in_code(&mut self, visit: &Visit, awaiting: Awaiting, jitter: f64) {
        if let Some(until_ms) = awaiting.until_ms.filter(|until| self.is_too_far(*until)) {
            let message = format!("{} is more than ten years away", iso(until_ms));
            let failure = Failure::new(ErrorCode::InputError, message).permanent();
            return self.fail(visit, failure, jitter);
        }
        let limit = self.plan.limits.max_awaits;
        // A retry leaves no answer in the journal; its policy bounds how often it happens.
        let is_retry = matches!(awaiting.what, AwaitFor::Retry(_));
        if !is_retry && visit.awaits() as u64 >= limit {
            let message = format!(
                "the step has waited {limit} times in one visit, the most that its flow's limits.maxAwaits allows, and all that it did is read again after each: begin a run that goes on from here with ctx.start, and return"
            );
            let failure = Failure::new(ErrorCode::MaxAwaits, message).permanent();
            return self.fail(visit, failure, jitter);
        }
        let (at, is_time) = (visit.at(), awaiting.what.is_time());
        self.emit(awaiting.fact(at));
        // A wait for a time in the past ends at once. Any other is stored first.
        if is_time {
            self.resume_if_due(&visit.key);
        }
    }

    /// The await of a visit was fired.
    pub(super) fn settled(&mut self, key: &VisitKey, id: &Name, value: Json, reason: String) {
        let Some(visit) = self.state.visit(key).cloned() else {
            return;
        };
        let Some(Wait::Await(awaiting)) = &visit.wait else {
            return;
        };
        if awaiting.id != *id {
            return;
        }
        // A repeatable callback stays open while the visit lasts.
        if !visit
            .callbacks()
            .any(|callback| callback.id == *id && callback.many)
        {
            let over = Over::of(&visit, awaiting, How::Settled);
            self.decision.settled.push(over);
        }
        self.go_on(&visit, reason, Some(value));
        self.settle();
    }

    /// An await timed out before it was fired often enough.
    pub(super) fn late(&mut self, key: &VisitKey, id: &Name, so_far: Json) {
        let Some(visit) = self.state.visit(key).cloned() else {
            return;
        };
        if let Some(Wait::Await(awaiting)) = &visit.wait
            && awaiting.id == *id
            && awaiting.until_ms.is_some_and(|until| until <= self.now)
        {
            self.await_over(&visit, awaiting, Some(so_far));
            self.settle();
        }
    }

    /// The time of an await is over: reached, or timed out.
    pub(super) fn await_over(&mut self, visit: &Visit, awaiting: &Awaiting, so_far: Option<Json>) {
        let is_time = awaiting.what.is_time();
        let waited_ms = self.since(visit.since_ms);
        let how = match is_time {
            true => How::Settled,
            false => How::Timeout { waited_ms },
        };
        self.decision.settled.push(Over::of(visit, awaiting, how));
        if is_time {
            let reason = match &awaiting.what {
                AwaitFor::Retry(operation) => format!("retry of {}", operation.name),
                _ => "time reached".to_owned(),
            };
            return self.go_on(visit, reason, None);
        }
        let step = self.plan.step(&visit.key.step);
        let declared = step.and_then(|step| step.awaits.as_ref());
        let next = declared.and_then(|awaits| awaits.on_timeout.as_deref());
        let next = next.filter(|next| !awaiting.in_code && self.plan.step(next).is_some());
        let data = StepAwaitTimeout {
            kind: Name::from(awaiting.what.kind()),
            waited_ms,
            next: next.map(Name::from),
            value: so_far,
        };
        self.emit(Fact::StepAwaitTimeout(visit.at(), data));
        if awaiting.in_code {
            self.again.push(visit.key.clone());
        } else if next.is_none() {
            self.fail(visit, timed_out(awaiting), 0.0);
        }
    }

    /// A visit ends, and with it the callbacks that its code has created.
    pub(super) fn close_callbacks(&mut self, visit: &Visit, reason: &str) {
        let waits = match &visit.wait {
            Some(Wait::Await(awaiting)) => Some(&awaiting.id),
            _ => None,
        };
        for callback in visit.callbacks() {
            let is_over = visit.is_over(&callback);
            if !is_over && waits != Some(&callback.id) {
                self.decision.settled.push(Over {
                    taken: visit.taken(&callback.id),
                    id: callback.id,
                    how: How::Cancelled {
                        reason: reason.to_owned(),
                    },
                    is_trigger: true,
                });
            }
        }
    }

    fn go_on(&mut self, visit: &Visit, reason: String, value: Option<Json>) {
        self.again.push(visit.key.clone());
        self.resumed(visit, reason, value);
    }
}
