//! From decisions to commits.

use std::{sync::Arc, time::Duration};

use riverrun_engine::{Child, Fact, Failure, RunState, Start};
use riverrun_store::{
    Advance, Change, Commit, Error as StoreError, Expect, NewRun, NewRunTask, Parent, Placed,
    Projection, RunLease, RunRecord, RunTaskChange, Snapshot,
};
use riverrun_types::{Draft, Json, RunId, StreamName, event::FlowFailed, time::NEVER};

use super::Driver;
use crate::{
    base::{Error, Result},
    runs::{Runs, cache::News},
    streams::SignalSource,
};

/// Events after which a snapshot is due, if they are also as large as the snapshot would be.
pub(crate) const SNAPSHOT_EVERY: u64 = 500;

/// The longest pause between tries that a shutdown waits for.
const LAST_TRY: Duration = Duration::from_millis(500);

/// The result of a commit.
#[derive(Debug, PartialEq)]
pub(crate) enum Committed {
    Done,
    /// Another writer was first: the driver has the new state, and its outcomes are judged on it.
    Moved,
    /// The driver has lost the run.
    Gone,
}

impl Driver {
    /// Makes everything decided so far durable.
    pub(super) async fn commit(&mut self, lease: &RunLease, task: RunTaskChange) -> Committed {
        let mut backoff = Duration::from_millis(50);
        loop {
            let (commit, events) = match self.advance_commit(task).await {
                Ok((commit, events)) => (commit.under(Some(lease.clone())), events),
                Err(error) => {
                    tracing::error!(run = %self.run, %error, "a decision could not be committed");
                    return Committed::Gone;
                }
            };
            let era = self.runs.cache().era(&self.run);
            // State that the cache shares with this driver is copied at the next decision.
            let is_shared = task != RunTaskChange::Keep || self.state.is_small();
            let news = is_shared.then(|| News {
                run: self.run.clone(),
                known: self.known(),
                era: Some(era),
                is_fresh: false,
                reader: None,
            });
            match self.runs.commit(commit, news).await {
                Ok(receipt) => {
                    let placed = receipt.placed.first().copied();
                    return self.committed(placed).await;
                }
                Err(StoreError::Conflict(_)) => {
                    let reloaded = self.reload().await;
                    // The wake that led to this decision does not come again, and the decision is
                    // not stored.
                    if reloaded == Committed::Moved {
                        self.reconcile().await;
                    }
                    return reloaded;
                }
                Err(
                    StoreError::Fenced(_) | StoreError::RunEnded(_) | StoreError::RunNotFound(_),
                ) => {
                    return Committed::Gone;
                }
                Err(StoreError::Closed | StoreError::Gone(_)) => return Committed::Gone,
                // The next process that opens the store finds the lease and claims the run again.
                Err(error) if self.runs.base().is_stopping() && backoff > LAST_TRY => {
                    tracing::warn!(run = %self.run, %error, "a decision was not stored before the stop");
                    return Committed::Gone;
                }
                Err(error) => {
                    tracing::warn!(run = %self.run, %error, "the store rejected a decision; trying again");
                    self.pending.events = events.to_vec();
                    tokio::time::sleep(backoff).await;
                    backoff = (backoff * 2).min(Duration::from_secs(5));
                }
            }
        }
    }

    async fn committed(&mut self, placed: Option<Placed>) -> Committed {
        self.turn += 1;
        self.outcomes.clear();
        self.forget_pending();
        let placed = placed.unwrap_or(Placed {
            first: self.stored_len,
            floor_ms: 0,
            len: self.state.len,
            no: 0,
        });
        if placed.first != self.stored_len || placed.len != self.state.len {
            // Another writer appended in between, a log or a state write: read that, in its order.
            let ready = std::mem::take(&mut self.ready);
            let reloaded = self.reload().await;
            self.ready = ready;
            return if reloaded == Committed::Moved {
                Committed::Done
            } else {
                reloaded
            };
        }
        self.stored_len = self.state.len;
        Committed::Done
    }

    /// Reads the state from the store and judges the unrecorded outcomes on it.
    pub(super) async fn reload(&mut self) -> Committed {
        let runs = self.runs.clone();
        let run = self.run.clone();
        match until_stored(&runs, || runs.load(&run)).await {
            Some(Ok(loaded)) if !loaded.record.status.is_ended() => {
                self.adopt(loaded);
                self.look_before_due().await;
                for outcome in self.outcomes.clone() {
                    self.judge(outcome);
                }
                Committed::Moved
            }
            _ => Committed::Gone,
        }
    }

    /// The commit of everything decided so far, and the events that it takes with it.
    pub(crate) async fn advance_commit(
        &mut self,
        task: RunTaskChange,
    ) -> Result<(Commit, Arc<[Draft]>)> {
        let snapshot = self.snapshot();
        // A snapshot must cover exactly the stream's beginning.
        let expect = match snapshot {
            None if !self.is_from_memory && !self.has_placed => Expect::Turn(self.turn),
            _ => Expect::Len(self.stored_len),
        };
        let after = matches!(expect, Expect::Len(_)).then_some(self.state.len);
        let events: Arc<[Draft]> = std::mem::take(&mut self.pending.events).into();
        let advance = Advance {
            run: self.run.clone(),
            context: self.context.clone(),
            expect,
            projection: projection(&self.state),
            events: events.clone(),
            task,
            snapshot,
        };
        let commit = Commit::of(Change::Advance(Box::new(advance)));
        let commit = self.with_relatives(commit, &events, after).await?;
        Ok((commit, events))
    }

    /// The commit that creates the run, and the run's record after it.
    pub(crate) async fn create_commit(&mut self, mut run: NewRun) -> Result<(Commit, RunRecord)> {
        run.projection = projection(&self.state);
        run.events = std::mem::take(&mut self.pending.events).into();
        run.turn = 1;
        let (record, events) = (record(&run, &self.state), run.events.clone());
        self.record = Some(Arc::new(record.clone()));
        let commit = Commit::of(Change::Create(Box::new(run)));
        let after = Some(self.state.len);
        let commit = self.with_relatives(commit, &events, after).await?;
        Ok((commit, record))
    }

    /// The effects of a decision on other runs: children begin, abandoned ones and the parent are
    /// woken. `after` is the stream's length by then, if known.
    async fn with_relatives(
        &self,
        mut commit: Commit,
        events: &[Draft],
        after: Option<u64>,
    ) -> Result<Commit> {
        let tenant = self.context.tenant_id.as_ref();
        let (plan, now) = (&self.flow.plan, self.runs.base().now_ms());
        let mut orders = self
            .runs
            .orders(&self.run, plan, tenant, &self.pending, after, now);
        for order in &mut orders {
            if let Change::Expire { id, fired, judged } = order {
                *fired = self.opened.get(id).copied().unwrap_or(*fired).max(*fired);
                *judged = self.judged.get(id).copied().unwrap_or_default();
            }
        }
        commit.changes.extend(orders);
        commit.changes.extend(self.awaits_and_signals());
        let stream = StreamName::flow(&self.run);
        let source = SignalSource {
            stream: &stream,
            context: &self.context,
            correlation: self.state.correlation.as_ref(),
            chain: self.state.chain,
        };
        let signals = self.runs.streams().engine_signals(&source, events);
        commit.changes.extend(signals);
        for child in &self.pending.children {
            let (created, orders) = self.create_child(child).await?;
            let (stream, context) = (StreamName::flow(&created.id), created.context());
            let source = SignalSource {
                stream: &stream,
                context: &context,
                correlation: None,
                chain: self.state.chain,
            };
            let signals = self.runs.streams().engine_signals(&source, &created.events);
            commit = commit.and(Change::Create(Box::new(created)));
            commit.changes.extend(orders.into_iter().chain(signals));
        }
        for run in &self.pending.abandoned {
            commit = commit.and(Change::Wake(run.clone()));
        }
        let parent = self.state.parent.as_ref().filter(|parent| !parent.detached);
        if let Some(parent) = parent.filter(|_| self.state.status.is_ended()) {
            commit = commit.and(Change::Wake(parent.run_id.clone()));
        }
        Ok(commit)
    }

    async fn create_child(&self, child: &Child) -> Result<(NewRun, Vec<Change>)> {
        let flow = self
            .runs
            .flows()
            .compiled(&child.flow, Some(&child.version))
            .await?;
        let now = self.runs.base().now_ms();
        let start = Start {
            input: child.input.clone(),
            not_before: None,
            parent: Some(child.parent.clone()),
            chain: self.state.chain,
            correlation_id: None,
            causation_id: None,
        };
        let (state, decision) = riverrun_engine::start(&flow.plan, start, now);
        let tenant = self.context.tenant_id.as_ref();
        let after = Some(state.len);
        let orders = self
            .runs
            .orders(&child.run, &flow.plan, tenant, &decision, after, now);
        let created = NewRun {
            id: child.run.clone(),
            flow: child.flow.clone(),
            version: child.version.clone(),
            created_ms: now,
            idempotency_key: None,
            tenant: self.context.tenant_id.clone(),
            tags: Vec::new(),
            metadata: None,
            parent: Some(Parent {
                run: self.run.clone(),
                step: child.parent.step.clone(),
                visit: child.parent.visit,
            }),
            origin: None,
            correlation: None,
            projection: projection(&state),
            turn: 1,
            events: Arc::from(decision.events),
            task: Some(NewRunTask::Ready { at_ms: now }),
            snapshot: None,
        };
        Ok((created, orders))
    }

    /// A snapshot, when enough was added since the last one: all snapshots of a run together are
    /// no larger than its stream and the last of them.
    fn snapshot(&mut self) -> Option<Snapshot> {
        let len = self.state.len;
        self.since_snapshot_bytes += bytes(&self.pending.events);
        if len - self.snapshot_len < SNAPSHOT_EVERY
            || self.since_snapshot_bytes < self.snapshot_bytes
            || self.state.status.is_ended() && len < SNAPSHOT_EVERY
        {
            return None;
        }
        let body = Json::of(&*self.state);
        self.snapshot_len = len;
        self.snapshot_bytes = body.bytes();
        self.since_snapshot_bytes = 0;
        Some(Snapshot { len, body })
    }
}

/// The approximate size of events.
fn bytes(events: &[Draft]) -> usize {
    let payload = |draft: &Draft| draft.data.as_ref().map_or(0, Json::bytes);
    events.iter().map(|draft| 16 + payload(draft)).sum()
}

/// The summary of a state for lists and filters.
pub fn projection(state: &RunState) -> Projection {
    let wake_ms = Some(state.wake_ms()).filter(|wake| *wake != NEVER);
    Projection {
        status: state.status,
        wake_ms: wake_ms.filter(|_| {
            state.status == riverrun_types::RunStatus::Waiting || state.not_before.is_some()
        }),
        ended_ms: state.ended_ms,
        error: state.error.as_ref().map(Json::of),
    }
}

/// The record of a run that is about to exist.
pub(crate) fn record(run: &NewRun, state: &RunState) -> RunRecord {
    RunRecord {
        id: run.id.clone(),
        flow: run.flow.clone(),
        version: run.version.clone(),
        status: run.projection.status,
        created_ms: run.created_ms,
        updated_ms: state.updated_ms,
        ended_ms: run.projection.ended_ms,
        wake_ms: run.projection.wake_ms,
        error: run.projection.error.clone(),
        idempotency_key: run.idempotency_key.clone(),
        tenant: run.tenant.clone(),
        tags: run.tags.clone(),
        metadata: run.metadata.clone(),
        parent: run.parent.clone(),
        origin: run.origin.clone(),
        correlation: run.correlation.clone(),
        len: state.len,
        turn: run.turn,
    }
}

/// Asks the store until it answers or the server stops.
pub(super) async fn until_stored<T, F>(runs: &Runs, ask: impl Fn() -> F) -> Option<Result<T>>
where
    F: Future<Output = Result<T>>,
{
    let mut backoff = Duration::from_millis(50);
    loop {
        match ask().await {
            Err(Error::Store(error @ (StoreError::Unavailable(_) | StoreError::Full(_)))) => {
                tracing::warn!(%error, "the store does not answer; trying again");
                if !runs.base().pause(backoff).await {
                    return None;
                }
                backoff = (backoff * 2).min(Duration::from_secs(5));
            }
            answer => return Some(answer),
        }
    }
}

/// Ends a run whose flow this server cannot compile, with the reason, instead of waiting for ever.
pub(super) async fn fail_without_plan(runs: &Runs, run: &RunId, lease: &RunLease, cause: &Error) {
    let Ok(loaded) = runs.load(run).await else {
        return;
    };
    let now = runs.base().now_ms().max(loaded.state.updated_ms);
    let error = Failure::new(cause.code(), cause.to_string());
    let fact = Fact::FlowFailed(FlowFailed {
        error,
        duration_ms: now.saturating_sub(loaded.state.created_ms),
    });
    let mut state = (*loaded.state).clone();
    state.apply_fact(&fact, now);
    let advance = Advance {
        run: run.clone(),
        context: loaded.context(),
        expect: Expect::Turn(loaded.record.turn),
        projection: projection(&state),
        events: Arc::from([fact.draft(now)]),
        task: RunTaskChange::Finish,
        snapshot: None,
    };
    let (stream, context) = (StreamName::flow(run), loaded.context());
    let source = SignalSource {
        stream: &stream,
        context: &context,
        correlation: state.correlation.as_ref(),
        chain: state.chain,
    };
    let signals = runs.streams().engine_signals(&source, &advance.events);
    let commit = Commit::of(Change::Advance(Box::new(advance)));
    let mut commit = commit.under(Some(lease.clone()));
    commit.changes.extend(signals);
    if let Err(error) = runs.commit(commit, None).await {
        tracing::warn!(%run, %error, "the run could not be failed; it is tried again when its lease ends");
    }
}
