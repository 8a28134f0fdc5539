//! A run whose stored stream cannot be read: it is parked, people see that, and can cancel it.

use std::sync::Arc;

use riverrun_engine::{Fact, Failure, RunState};
use riverrun_store::{
    Advance, Change, Commit, Error as StoreError, Expect, Projection, RunLease, RunRecord,
    RunTaskChange,
};
use riverrun_types::{
    Json, RunId, RunStatus,
    event::{EventContext, FlowCancelled},
    time::NEVER,
};

use crate::{
    base::{Error, Result},
    runs::Runs,
};

/// The damage in the run's data, if that is the cause of an error.
pub(crate) fn damage(error: &Error) -> Option<&StoreError> {
    match error {
        Error::Store(error @ StoreError::Corrupt(_)) => Some(error),
        _ => None,
    }
}

/// Parks a run until it is cancelled or its data was restored. None of its steps begins or is
/// undone, and it is not tried again.
pub(crate) async fn park(runs: &Runs, run: &RunId, lease: &RunLease, cause: &StoreError) {
    let record = match runs.base().store().run(run).await {
        Ok(Some(record)) if !record.status.is_ended() => record,
        _ => return,
    };
    let projection = Projection {
        status: match record.status {
            RunStatus::Paused => RunStatus::Paused,
            _ => RunStatus::Waiting,
        },
        wake_ms: None,
        ended_ms: None,
        error: Some(said(cause)),
    };
    let task = RunTaskChange::Park { at_ms: NEVER };
    let commit = advance(&record, projection, Arc::from([]), task).under(Some(lease.clone()));
    match runs.commit(commit, None).await {
        Ok(_) => tracing::error!(%run, error = %cause, "the run is damaged; it is parked"),
        Err(error) => tracing::warn!(%run, %error, "a damaged run could not be parked"),
    }
}

impl Runs {
    /// Cancels a run whose stream cannot be read. Its active steps are unknown, so their jobs stay
    /// in their queues, and the outcomes of those jobs are dropped.
    pub(crate) async fn cancel_damaged(
        &self,
        run: &RunId,
        reason: Option<String>,
    ) -> Result<Arc<RunState>> {
        let record = self.base().store().run(run).await?;
        let record = record.ok_or_else(|| StoreError::RunNotFound(run.clone()))?;
        if record.status.is_ended() {
            return Err(StoreError::RunEnded(run.clone()).into());
        }
        let now = self.base().now_ms().max(record.updated_ms);
        let fact = Fact::FlowCancelled(FlowCancelled {
            source: "user".to_owned(),
            reason,
            duration_ms: now.saturating_sub(record.created_ms),
        });
        let mut state = RunState::new();
        state.apply_fact(&fact, now);
        let projection = Projection {
            status: RunStatus::Cancelled,
            wake_ms: None,
            ended_ms: Some(now),
            error: record.error.clone(),
        };
        let events = Arc::from([fact.draft(now)]);
        let mut commit = advance(&record, projection, events, RunTaskChange::Finish);
        if let Some(parent) = &record.parent {
            commit = commit.and(Change::Wake(parent.run.clone()));
        }
        self.commit(commit, None).await?;
        self.cache().forget(run);
        Ok(Arc::new(state))
    }
}

fn said(cause: &StoreError) -> Json {
    Json::of(&Failure::new(cause.code(), cause.to_string()))
}

fn advance(
    record: &RunRecord,
    projection: Projection,
    events: Arc<[riverrun_types::Draft]>,
    task: RunTaskChange,
) -> Commit {
    let advance = Advance {
        run: record.id.clone(),
        context: EventContext {
            run_id: record.id.as_str().into(),
            flow_name: record.flow.clone(),
            tenant_id: record.tenant.clone(),
        },
        expect: Expect::Turn(record.turn),
        projection,
        events,
        task,
        snapshot: None,
    };
    Commit::of(Change::Advance(Box::new(advance)))
}
