//! Control of runs by people: cancel, pause, resume, delete.
//!
//! Each is a decision like any other, made without the lease: if the run moved meanwhile it is made
//! again on the new state, and the holder of the lease is notified.

use std::sync::Arc;

use riverrun_engine::{Decision, Input, Parked, RunState, VisitKey, decide};
use riverrun_store::{Advance, Change, Commit, Error as StoreError, Expect, RunTaskChange};
use riverrun_types::{RunId, StreamName};

use super::{
    Runs,
    cache::CachedRun,
    drive::{damage, projection},
    load::Loaded,
    orders::unwanted_jobs,
};
use crate::{
    base::{Error, Result},
    streams::SignalSource,
};

/// How often a decision is made again because the run moved.
const TRIES: usize = 200;

impl Runs {
    /// Stops a run for good: running attempts are asked to stop, waiting ones are removed, children
    /// are cancelled.
    pub async fn cancel(&self, run: &RunId, reason: Option<String>) -> Result<Arc<RunState>> {
        let cancel = Input::Cancel {
            source: "user",
            reason: reason.clone(),
        };
        match self.control(run, cancel).await {
            // Without the definition the active visits are unknown.
            Err(Error::FlowNotFound { .. }) => self.cancel_damaged(run, reason).await,
            Err(error) if damage(&error).is_some() => self.cancel_damaged(run, reason).await,
            answer => answer,
        }
    }

    /// Begins no more steps until the run is resumed. Running attempts may finish.
    pub async fn pause(&self, run: &RunId, reason: Option<String>) -> Result<Arc<RunState>> {
        self.control(run, Input::Pause { reason }).await
    }

    /// Ends a pause, and releases the visits that are parked.
    pub async fn resume(&self, run: &RunId) -> Result<Arc<RunState>> {
        let loaded = self.load(run).await?;
        let is_held = loaded.state.paused || loaded.state.parked.is_some();
        if !is_held || loaded.state.status.is_ended() {
            return Err(match loaded.state.status {
                status if status.is_ended() => StoreError::RunEnded(run.clone()).into(),
                status => Error::NotPaused {
                    run: run.clone(),
                    status,
                },
            });
        }
        self.control(run, Input::Resume).await
    }

    /// Parks a visit that is about to begin or that runs, until it is released.
    pub async fn park(
        &self,
        run: &RunId,
        visit: VisitKey,
        parked: Parked,
    ) -> Result<Arc<RunState>> {
        let input = Input::Park {
            visit,
            attempt: None,
            parked,
        };
        self.control(run, input).await
    }

    /// Releases parked visits, all of them or some. A run without parked visits does not change.
    pub async fn release(
        &self,
        run: &RunId,
        visits: Option<Vec<VisitKey>>,
        reason: impl Into<String>,
    ) -> Result<Arc<RunState>> {
        let reason = reason.into();
        self.control(run, Input::Release { visits, reason }).await
    }

    /// Removes a run that has ended, with its stream.
    pub async fn delete(&self, run: &RunId) -> Result<()> {
        self.base()
            .commit(Commit::of(Change::Delete(run.clone())))
            .await?;
        self.cache().forget(run);
        Ok(())
    }

    pub(crate) async fn control(&self, run: &RunId, input: Input) -> Result<Arc<RunState>> {
        for _ in 0..TRIES {
            let era = self.cache().era(run);
            let loaded = self.load(run).await?;
            if loaded.state.status.is_ended() {
                return Err(StoreError::RunEnded(run.clone()).into());
            }
            let version = loaded.record.version.clone();
            let flow = self
                .flows()
                .compiled(&loaded.record.flow, Some(&version))
                .await?;
            let mut state = (*loaded.state).clone();
            let decision = decide(
                &flow.plan,
                &mut state,
                run,
                input.clone(),
                self.base().now_ms(),
            );
            if decision.is_empty() {
                return Ok(loaded.state);
            }
            let now = self.base().now_ms();
            let tenant = loaded.record.tenant.as_ref();
            let mut orders = self.orders(run, &flow.plan, tenant, &decision, None, now);
            let (stream, context) = (StreamName::flow(run), loaded.context());
            let source = SignalSource {
                stream: &stream,
                context: &context,
                correlation: state.correlation.as_ref(),
                chain: state.chain,
            };
            orders.extend(self.streams().engine_signals(&source, &decision.events));
            orders.extend(source.signals(&decision.events, 0, now, |kind| {
                flow.plan.subscribes_to(kind)
            }));
            let unwanted = unwanted_jobs(run, &decision);
            let mut commit = control_commit(&loaded, &state, decision);
            commit.changes.extend(orders);
            match self.commit(commit, None).await {
                Ok(receipt) => {
                    for job in unwanted {
                        self.dispatcher().stop(&job);
                    }
                    let state = Arc::new(state);
                    // If no other append came in between, this is the current state.
                    if receipt
                        .placed
                        .first()
                        .is_some_and(|placed| placed.len == state.len)
                    {
                        let known = CachedRun {
                            state: state.clone(),
                            ..loaded.known()
                        };
                        self.cache().put_since(era, run, known);
                    }
                    return Ok(state);
                }
                Err(StoreError::Conflict(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Busy)
    }
}

fn control_commit(loaded: &Loaded, state: &RunState, decision: Decision) -> Commit {
    let ended = state.status.is_ended();
    let advance = Advance {
        run: loaded.record.id.clone(),
        context: loaded.context(),
        expect: Expect::Turn(loaded.record.turn),
        projection: projection(state),
        events: Arc::from(decision.events),
        task: match ended {
            true => RunTaskChange::Finish,
            false => RunTaskChange::Park {
                at_ms: state.wake_ms(),
            },
        },
        snapshot: None,
    };
    let mut commit = Commit::of(Change::Advance(Box::new(advance)));
    for child in decision.abandoned {
        commit = commit.and(Change::Wake(child));
    }
    let parent = state
        .parent
        .as_ref()
        .filter(|parent| ended && !parent.detached);
    match parent {
        Some(parent) => commit.and(Change::Wake(parent.run_id.clone())),
        None => commit,
    }
}
