//! Attempts with effects: each runs on its own, bounded in time, and can be cancelled.

use std::{any::Any, collections::HashMap, panic::AssertUnwindSafe, time::Duration};

use futures::FutureExt;
use riverrun_contract::Call;
use riverrun_engine::{Failure, Outcome, RunState, View, VisitKey};
use riverrun_types::{Draft, ErrorCode, VisitStatus};
use tokio::task::{AbortHandle, JoinSet};

use super::Driver;
use crate::base::{Busy, Clock};

/// How an attempt ended.
pub(crate) struct Finished {
    pub visit: VisitKey,
    pub attempt: u32,
    pub outcome: Outcome,
    pub events: Vec<Draft>,
    /// Until the driver has read it.
    #[expect(dead_code, reason = "counts until it is dropped")]
    pub going: Going,
}

/// An attempt that goes on, with a running handler.
type Going = (Busy, Busy);

/// The attempts of one run that are under way. Dropping it cancels them.
#[derive(Default)]
pub(crate) struct Attempts {
    running: JoinSet<Finished>,
    handles: HashMap<(VisitKey, u32), AbortHandle>,
}

impl Attempts {
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// Begins an attempt whose start is recorded.
    pub fn launch(&mut self, driver: &Driver, visit: VisitKey, attempt: u32) {
        let Some(known) = driver.state.visit(&visit) else {
            return;
        };
        let Some(step) = driver.flow.plan.step(&visit.step) else {
            return;
        };
        let Some(action) = driver.flow.actions.get(&visit.step) else {
            return;
        };
        let input = step.input(&driver.state, known);
        let scope = driver.state.view(known).to_state();
        let selects_input = step.selects && known.input.is_none();
        let timeout = action
            .timeout
            .unwrap_or(driver.runs.base().options().attempt_timeout);
        let (runs, flow, run) = (driver.runs.clone(), driver.flow.clone(), driver.run.clone());
        let key = (visit.clone(), attempt);
        let going = (runs.base().clock().busy(), runs.base().clock().handler());
        let task = async move {
            let input = match input {
                Ok(input) => input,
                Err(failure) => {
                    return Finished {
                        visit,
                        attempt,
                        outcome: Outcome::Failure(failure),
                        events: Vec::new(),
                        going,
                    };
                }
            };
            let (view, services) = (View::of(&scope), runs.flows().services());
            let mut call = Call::new(&run, &flow.plan.id, &visit.step, input, view, services);
            call.visit = visit.visit;
            call.attempt = attempt;
            call.now_ms = runs.base().now_ms();
            call.selects_input = selects_input;
            call.max_value_bytes = flow.plan.limits.max_value_bytes;
            let outcome = match flow.actions.get(&visit.step) {
                Some(step) => {
                    let running = AssertUnwindSafe(step.action.run(&call)).catch_unwind();
                    bounded(runs.base().clock(), timeout, running)
                        .await
                        .map_or_else(
                            || Err(timed_out(timeout)),
                            |ended| ended.map_err(|p| panicked(&*p)),
                        )
                        .unwrap_or_else(Outcome::Failure)
                }
                None => Outcome::failure(ErrorCode::StepNotFound, "the step is gone"),
            };
            let outcome = runs.with_declared_time(&flow, &visit.step, outcome).await;
            let events = call.into_recorded();
            Finished {
                visit,
                attempt,
                outcome,
                events,
                going,
            }
        };
        self.handles.insert(key, self.running.spawn(task));
    }

    /// The next attempt that ends; pends while none runs.
    pub async fn next(&mut self) -> Finished {
        loop {
            match self.running.join_next().await {
                Some(Ok(finished)) => {
                    self.handles
                        .remove(&(finished.visit.clone(), finished.attempt));
                    return finished;
                }
                // Aborted, and already forgotten.
                Some(Err(_)) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// Cancels the attempts that the run no longer wants.
    pub fn retain(&mut self, state: &RunState) {
        self.handles.retain(|(visit, attempt), handle| {
            let wanted = state
                .visit(visit)
                .filter(|known| known.status == VisitStatus::Running)
                .is_some_and(|known| known.attempt == *attempt);
            if !wanted {
                handle.abort();
            }
            wanted
        });
    }
}

/// The handler's outcome, or its timeout.
async fn bounded<F: Future>(clock: &Clock, limit: Duration, running: F) -> Option<F::Output> {
    let in_time = async {
        tokio::select! {
            biased;
            ended = running => Some(ended),
            () = clock.sleep(limit) => None,
        }
    };
    clock.rest(in_time).await
}

fn timed_out(timeout: Duration) -> Failure {
    Failure::new(
        ErrorCode::Timeout,
        format!("the attempt took longer than {} ms", timeout.as_millis()),
    )
}

pub(super) fn panicked(panic: &(dyn Any + Send)) -> Failure {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned());
    Failure::new(
        ErrorCode::HandlerError,
        format!("the handler panicked: {text}"),
    )
}
