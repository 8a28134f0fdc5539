//! Steps without effects, run back to back in memory.

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::FutureExt;
use riverrun_contract::{Call, Effects};
use riverrun_engine::{Failure, Input, Outcome, VisitKey};
use riverrun_types::{Draft, ErrorCode, Json, VisitStatus};

use super::Driver;

/// Events after which the decisions so far are committed: readers see a long chain of steps while
/// it runs, and the size of a commit stays bounded.
const MAX_EVENTS: usize = 256;

/// Bytes of data after which they are committed, too: the events of a commit are held several times
/// until it is durable.
const MAX_EVENT_BYTES: usize = 4 << 20;

/// How long steps without effects may keep a thread to themselves before other runs and requests
/// get it.
const SLICE: Duration = Duration::from_millis(1);

/// Whether steps with effects may be begun.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effectful {
    Begin,
    /// No driver is here to run them: the one that claims the run begins them.
    Leave,
}

/// How many events are to be committed, and their bytes. Each event is counted once.
#[derive(Default)]
struct Weight {
    counted: usize,
    bytes: usize,
}

impl Weight {
    fn is_full(&mut self, events: &[Draft]) -> bool {
        let fresh = events.get(self.counted..).unwrap_or_default();
        let bytes = fresh.iter().filter_map(|event| event.data.as_ref());
        self.bytes += bytes.map(Json::bytes).sum::<usize>();
        self.counted = events.len();
        self.counted >= MAX_EVENTS || self.bytes >= MAX_EVENT_BYTES
    }
}

impl Driver {
    /// Decides as far as it can without effects.
    pub(crate) async fn advance(&mut self, effectful: Effectful) {
        self.look_before_due().await;
        // An await that is registered by this commit is stored before it can time out: the store
        // may already hold its event. The run task is due then, and the driver that claims it
        // looks.
        if self.awaits.is_empty() {
            self.judge(Input::Due);
        }
        let mut since = Instant::now();
        let mut weight = Weight::default();
        while !weight.is_full(&self.pending.events) {
            if !self.emit_declared(&mut weight).await {
                return;
            }
            // A visit that cannot wait may lead to others that have to.
            if self.await_declared().await {
                continue;
            }
            let Some(visit) = self.next_runnable(effectful) else {
                return;
            };
            if since.elapsed() > SLICE {
                tokio::task::yield_now().await;
                since = Instant::now();
            }
            self.judge(Input::Begin(visit.clone()));
            // The step limit may have ended the run instead.
            let running = self
                .state
                .visit(&visit)
                .filter(|v| v.status == VisitStatus::Running);
            let Some(attempt) = running.map(|visit| visit.attempt) else {
                continue;
            };
            if self.effects(&visit) == Effects::Some {
                self.ready.push((visit, attempt));
                continue;
            }
            let (outcome, events) = self.run_inline(&visit, attempt).await;
            self.record(&visit, attempt, events);
            self.judge(Input::Finished {
                visit,
                attempt,
                outcome,
                jitter: rand::random(),
                retry: None,
            });
        }
    }

    /// Emits the events that the definitions of finished visits declare. Returns whether it emitted
    /// all: the rest belongs in the next commit, before anything else.
    async fn emit_declared(&mut self, weight: &mut Weight) -> bool {
        while let Some(due) = self.state.to_emit.first() {
            if weight.is_full(&self.pending.events) {
                return false;
            }
            let event = due.draft(self.runs.base().now_ms());
            self.emit(event).await;
        }
        true
    }

    /// Whether more is decided at once than one commit holds.
    pub(crate) fn has_more(&self) -> bool {
        self.state.can_go_on(self.runs.base().now_ms())
            || !self.flow.plan.to_await(&self.state).is_empty()
    }

    fn next_runnable(&self, effectful: Effectful) -> Option<VisitKey> {
        self.state
            .runnable(self.runs.base().now_ms())
            .map(|visit| &visit.key)
            .find(|key| effectful == Effectful::Begin || self.effects(key) == Effects::None)
            .cloned()
    }

    fn effects(&self, visit: &VisitKey) -> Effects {
        self.flow
            .actions
            .get(&visit.step)
            .map_or(Effects::None, |step| step.effects)
    }

    async fn run_inline(&self, visit: &VisitKey, attempt: u32) -> (Outcome, Vec<Draft>) {
        let (Some(step), Some(action), Some(known)) = (
            self.flow.plan.step(&visit.step),
            self.flow.actions.get(&visit.step),
            self.state.visit(visit),
        ) else {
            let message = format!("the flow has no step {:?}", visit.step);
            let failure = Failure::new(ErrorCode::StepNotFound, message);
            return (Outcome::Failure(failure.permanent()), Vec::new());
        };
        // Handlers see the state as it is now; it does not change while they run.
        let state = Arc::clone(&self.state);
        let input = match step.input(&state, known) {
            Ok(input) => input,
            Err(failure) => return (Outcome::Failure(failure), Vec::new()),
        };
        let view = state.view(known);
        let (flow, services) = (&self.flow.plan.id, self.runs.flows().services());
        let mut call = Call::new(&self.run, flow, &step.name, input, view, services);
        call.visit = visit.visit;
        call.attempt = attempt;
        call.now_ms = self.runs.base().now_ms();
        call.selects_input = step.selects && known.input.is_none();
        call.max_value_bytes = step.max_value_bytes;
        let outcome = AssertUnwindSafe(action.action.run(&call))
            .catch_unwind()
            .await;
        let outcome = match outcome {
            Ok(outcome) => {
                let outcome = self.checked(outcome).await;
                let (runs, flow) = (&self.runs, &self.flow);
                runs.with_declared_time(flow, &visit.step, outcome).await
            }
            Err(panic) => Outcome::Failure(super::attempt::panicked(&*panic)),
        };
        (outcome, call.into_recorded())
    }

    /// A sub-flow that cannot be started is a failure of the step that starts it.
    pub(super) async fn checked(&self, outcome: Outcome) -> Outcome {
        let Outcome::SubFlow(sub) = &outcome else {
            return outcome;
        };
        let refuse = |code: ErrorCode, message: String| {
            Outcome::Failure(Failure::new(code, message).permanent())
        };
        match self
            .runs
            .flows()
            .compiled(&sub.flow, Some(&sub.version))
            .await
        {
            Err(error) => refuse(error.code(), error.to_string()),
            Ok(flow) => match crate::runs::start::check_input(&flow.plan, &sub.input) {
                Err(error) => refuse(error.code(), error.to_string()),
                Ok(()) => outcome,
            },
        }
    }

    /// Adds what a handler recorded to what is to be committed.
    pub(crate) fn record(&mut self, visit: &VisitKey, attempt: u32, events: Vec<Draft>) {
        for mut draft in events {
            draft.step = Some(riverrun_types::StepRef {
                name: visit.step.clone(),
                visit: visit.visit,
                attempt,
            });
            draft.ms = draft.ms.max(self.state.updated_ms);
            self.append(draft);
        }
    }

    /// Adds an event that decides nothing.
    pub(crate) fn append(&mut self, draft: Draft) {
        Arc::make_mut(&mut self.state).apply(&draft);
        self.pending.events.push(draft);
    }
}
