//! Reading the world again: decisions of others, children that ended, a deleted parent.
//!
//! A wake says only "look". The driver decides by the stored state, so a wake that is lost, late or
//! doubled does no harm.

use std::sync::Arc;

use riverrun_engine::{Cancellation, Failure, Input, Lineage, RunState, Visit, VisitKey, Wait};
use riverrun_store::RunRecord;
use riverrun_types::{ErrorCode, Json, RunId, RunStatus};
use serde_json::json;

use super::{Driver, Next, attempt::Attempts, commit::Committed};
use crate::base::{Error, Result};

impl Driver {
    /// Another task moved the run, or something that it waits for.
    pub(super) async fn look_again(&mut self, attempts: &mut Attempts) -> Next {
        let record = match self.runs.base().store().run(&self.run).await {
            Ok(Some(record)) => record,
            Ok(None) => return Next::Stop,
            // The next commit finds what it was.
            Err(_) => return Next::GoOn,
        };
        if record.status.is_ended() {
            return Next::Stop;
        }
        if record.turn != self.turn {
            if self.reload().await == Committed::Gone {
                return Next::Stop;
            }
            attempts.retain(&self.state);
        }
        self.reconcile().await;
        Next::GoOn
    }

    /// Settles waits that were settled elsewhere.
    pub(super) async fn reconcile(&mut self) {
        if let Err(error) = self.look_at_relatives().await {
            tracing::warn!(run = %self.run, %error, "could not read the run's parent and children");
        }
        if let Err(error) = self.look_at_awaits().await {
            tracing::warn!(run = %self.run, %error, "could not read the run's awaits");
        }
    }

    async fn look_at_relatives(&mut self) -> Result<()> {
        // A run that undoes its steps because of its parent has its cancellation.
        if self.state.ends_cancelled.is_none()
            && let Some(input) = self.abandonment().await?
        {
            let undoes = matches!(input, Input::Abandoned { .. }) && self.state.compensating;
            self.judge(input);
            if !undoes {
                return Ok(());
            }
        }
        let awaited: Vec<(VisitKey, RunId)> = self
            .state
            .visits
            .iter()
            .filter_map(|visit| match &visit.wait {
                Some(Wait::Run { run, .. }) => Some((visit.key.clone(), run.clone())),
                _ => None,
            })
            .collect();
        if awaited.is_empty() {
            return Ok(());
        }
        let ids: Vec<RunId> = awaited.iter().map(|(_, run)| run.clone()).collect();
        let records = self.runs.base().store().runs(&ids).await?;
        for (visit, run) in awaited {
            let record = records.iter().find(|record| record.id == run);
            if let Some(result) = self.child_result(&run, record).await? {
                self.judge(Input::ChildEnded { visit, run, result });
            }
        }
        Ok(())
    }

    /// The end of an awaited run, or nothing if it has not ended.
    async fn child_result(
        &self,
        run: &RunId,
        record: Option<&RunRecord>,
    ) -> Result<Option<std::result::Result<Json, Failure>>> {
        let failed = |message: String, details: Json| {
            Failure::new(ErrorCode::ChildFailed, message).details(details)
        };
        let Some(record) = record else {
            let details = Json::of(&json!({ "runId": run }));
            return Ok(Some(Err(failed(format!("run {run} was deleted"), details))));
        };
        if !record.status.is_ended() {
            return Ok(None);
        }
        let child = self.runs.load(run).await?.state;
        Ok(Some(match child.status {
            RunStatus::Completed => Ok(child.result.clone().unwrap_or_else(Json::null)),
            status => {
                let error = child.error.as_ref();
                let why = error.map_or(String::new(), |e| format!(": {}: {}", e.code, e.message));
                let details = json!({ "runId": run, "status": status, "error": error });
                Err(failed(
                    format!("run {run} {status}{why}"),
                    Json::of(&details),
                ))
            }
        }))
    }

    /// The input that cancels this run, if the visit that started it has stopped waiting for it.
    async fn abandonment(&self) -> Result<Option<Input>> {
        let Some(parent) = waited_for_by(&self.state) else {
            return Ok(None);
        };
        let above = self.above(parent).await?;
        let key = VisitKey {
            step: parent.step.clone(),
            visit: parent.visit,
        };
        let is_it =
            |visit: &Visit| matches!(&visit.wait, Some(Wait::Run { run, .. }) if *run == self.run);
        let visit = above.as_ref().and_then(|above| above.visit(&key));
        if visit.is_some_and(is_it) {
            return Ok(None);
        }
        Ok(Some(match self.has_failed(above).await? {
            true => Input::Abandoned {
                reason: "the run that waited for this one failed".to_owned(),
            },
            false => Input::Cancel {
                source: "parent",
                reason: Some("the run that waited for this one does not any more".to_owned()),
            },
        }))
    }

    /// Whether a run has failed, or was cancelled because one above it has.
    async fn has_failed(&self, mut above: Option<Arc<RunState>>) -> Result<bool> {
        while let Some(state) = above {
            if state.status == RunStatus::Failed || state.compensating {
                return Ok(true);
            }
            let by_parent = |cancelled: &Cancellation| cancelled.source == "parent";
            let is_cancelled = state.status == RunStatus::Cancelled;
            let follows = is_cancelled && state.cancellation.as_ref().is_some_and(by_parent);
            above = match waited_for_by(&state).filter(|_| follows) {
                Some(parent) => self.above(parent).await?,
                None => None,
            };
        }
        Ok(false)
    }

    /// The run that a lineage leads to, unless it was deleted.
    async fn above(&self, parent: &Lineage) -> Result<Option<Arc<RunState>>> {
        match self.runs.load(&parent.run_id).await {
            Ok(loaded) => Ok(Some(loaded.state)),
            Err(Error::Store(riverrun_store::Error::RunNotFound(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The run and visit that wait for a run, if any.
fn waited_for_by(state: &RunState) -> Option<&Lineage> {
    state.parent.as_ref().filter(|parent| !parent.detached)
}
