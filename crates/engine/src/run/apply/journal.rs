//! The journal of a step's code, and the answers to its awaits.

use indexmap::IndexMap;
use riverrun_types::{
    Draft, ErrorCode, EventType, Json, Millis, Name, StepRef, VisitStatus,
    event::{StateDelete, StateSet, StepAwaitTimeout, is_in_run},
};

use super::From;
use crate::{
    Fact, Failure,
    run::{AwaitFor, Awaiting, Memo, MemoRetry, RunState, ToEmit, VisitKey, Wait, consumed},
};

impl RunState {
    pub(super) fn resume(&mut self, at: &StepRef, value: Option<&Json>) {
        let job = self.job_of(&at.name, None);
        let Some(visit) = self.visits.get_mut(&VisitKey::of(at)) else {
            return;
        };
        let wait = visit.wait.take();
        if let Some(Wait::Await(Awaiting {
            what: AwaitFor::Event { event_kind, .. },
            ..
        })) = &wait
            && let Some(event) = value
        {
            consumed::add(&mut self.consumed, event_kind, event);
        }
        match wait {
            // No answer has arrived that could be returned to the code: its operation is tried
            // again.
            Some(Wait::Await(Awaiting {
                what: AwaitFor::Retry(_),
                ..
            })) => visit.wait = job,
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

    pub(super) fn await_timeout(&mut self, at: &StepRef, timeout: &StepAwaitTimeout, ms: Millis) {
        if let Some(next) = &timeout.next {
            // A visit that ends before its handler began also counts as a step of the run.
            self.step_count += u64::from(at.attempt == 0);
            if let Some(visit) = self.leave(at, VisitStatus::Timeout, ms) {
                let input = visit.input.clone();
                let from = From {
                    input,
                    so_far: timeout.value.clone(),
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

    /// The pending event of a finished visit was emitted.
    pub(super) fn emitted(&mut self, at: &StepRef, kind: &Name) {
        let key = VisitKey::of(at);
        let is_it = |due: &ToEmit| due.visit == key && due.kind == *kind;
        if let Some(found) = self.to_emit.iter().position(is_it) {
            self.to_emit.remove(found);
        }
    }

    pub(super) fn remember(&mut self, at: &StepRef, memo: Memo) {
        if let Some(visit) = self.visits.get_mut(&VisitKey::of(at)) {
            visit.remember(memo);
        }
    }

    /// A try of an operation has failed, and it is tried again.
    pub(super) fn tried(&mut self, at: &StepRef, retry: MemoRetry) {
        if let Some(visit) = self.visits.get_mut(&VisitKey::of(at)) {
            visit.tried(retry);
        }
    }
}

/// The answer to a handler's await.
fn answer(awaiting: &Awaiting, value: Option<Json>) -> Memo {
    let name = match &awaiting.what {
        AwaitFor::Time | AwaitFor::Retry(_) => Name::from("time"),
        AwaitFor::Event { event_kind, .. } => event_kind.clone(),
        AwaitFor::Trigger { .. } => awaiting.id.clone(),
    };
    Memo {
        op: Name::from("await"),
        name,
        nth: None,
        value,
        error: None,
        emits: Vec::new(),
    }
}

/// The journal entry of an emitted event: it has the requested type, even if its topic is its kind,
/// or if it has no topic.
pub(super) fn emitted(fact: &Fact, draft: &Draft) -> Option<Memo> {
    let is_emitted = matches!(fact, Fact::Emitted { .. }) || draft.kind == EventType::Emit;
    is_emitted.then(|| Memo {
        op: Name::from("emit"),
        name: Name::from(draft.kind.as_str()),
        nth: None,
        value: None,
        error: None,
        emits: Vec::new(),
    })
}

/// The journal entry of a state write.
pub(super) fn written(fact: &Fact, draft: &Draft) -> Option<Memo> {
    let (op, name, value) = match fact {
        Fact::StateSet(StateSet { key, value }) => {
            ("state.set", key.to_string(), Some(value.clone()))
        }
        Fact::StateDelete(StateDelete { key }) => ("state.delete", key.to_string(), None),
        Fact::StateBatch(batch) => {
            let values = batch.operations.iter();
            let values = values.map(|op| (op.key.to_string(), &op.value));
            let values: IndexMap<String, &Option<Json>> = values.collect();
            ("state.setBatch", String::new(), Some(Json::of(&values)))
        }
        _ => return None,
    };
    (!is_in_run(draft)).then(|| Memo {
        op: Name::from(op),
        name: Name::from(name),
        nth: None,
        value,
        error: None,
        emits: Vec::new(),
    })
}

pub(crate) fn timed_out(awaiting: &Awaiting) -> Failure {
    let what = match &awaiting.what {
        AwaitFor::Time | AwaitFor::Retry(_) => "the time",
        AwaitFor::Event { event_kind, .. } => event_kind,
        AwaitFor::Trigger { .. } => "the trigger",
    };
    let message = format!("{what} did not come in time");
    Failure::new(ErrorCode::AwaitTimeout, message).permanent()
}
