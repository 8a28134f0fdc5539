//! Visits whose code did not match the journal of its earlier executions. They are parked, and
//! tried again when code of their process is loaded: a file was changed, or a worker has connected.

use std::collections::BTreeSet;

use riverrun_engine::{Parked, VisitKey};
use riverrun_protocol::WorkError;
use riverrun_store::{EventQuery, Kinds, LogQuery};
use riverrun_types::{ErrorCode, EventType, Name, RunId};

use super::Steps;
use crate::base::Result;

/// The error code with which SDKs end an execution that does not match its journal.
const MISMATCH: ErrorCode = ErrorCode::JournalMismatch;

/// Events that are read at a time.
const PAGE: usize = 500;

/// The reason of a parked visit whose code did not match its journal.
pub(super) fn mismatch(error: &WorkError) -> Option<Parked> {
    (error.code == MISMATCH).then(|| Parked {
        details: error.details.clone(),
        ..Parked::new(MISMATCH, error.message.clone())
    })
}

/// Releases visits that were parked because of such code, whenever code is loaded.
pub(crate) async fn release_fitting(steps: Steps) {
    let loaded = steps.processes().loaded();
    while steps.base().rest(loaded.changed.notified()).await {
        let processes = loaded.take();
        if processes.is_empty() {
            continue;
        }
        if let Err(error) = steps.release_code(&processes).await {
            tracing::warn!(%error, "could not read the runs that changed code has parked");
        }
    }
}

impl Steps {
    async fn release_code(&self, processes: &BTreeSet<Name>) -> Result<()> {
        for run in self.ever_parked().await? {
            if self.base().is_stopping() {
                return Ok(());
            }
            if let Err(error) = self.release_if_code(&run, processes).await {
                tracing::debug!(%run, %error, "a parked run could not be released");
            }
        }
        Ok(())
    }

    /// The runs that have had a parked visit. Such events are rare, and found by their mark.
    async fn ever_parked(&self) -> Result<BTreeSet<RunId>> {
        let kinds = Kinds::new([EventType::StepParked.as_str()]);
        let (mut runs, mut after) = (BTreeSet::new(), 0);
        loop {
            let query = LogQuery {
                after,
                kinds: kinds.clone(),
                limit: PAGE,
                max_bytes: EventQuery::PAGE_BYTES,
            };
            let page = self.base().store().log(&query).await?;
            runs.extend(
                page.events
                    .iter()
                    .map(|logged| RunId::new(&logged.event.context.run_id)),
            );
            if page.is_end {
                return Ok(runs);
            }
            after = page.next;
        }
    }

    async fn release_if_code(&self, run: &RunId, processes: &BTreeSet<Name>) -> Result<()> {
        let loaded = self.runs().load(run).await?;
        if loaded.state.status.is_ended() || loaded.state.parked.is_none() {
            return Ok(());
        }
        let version = Some(&loaded.record.version);
        let flow = self
            .flows()
            .compiled(&loaded.record.flow, version.map(|v| &**v))
            .await?;
        let process_of = |visit: &VisitKey| flow.plan.step(&visit.step)?.process.clone();
        let parked = loaded.state.visits.iter().filter(|visit| {
            let is_code = visit.parked().is_some_and(|parked| parked.code == MISMATCH);
            is_code && process_of(&visit.key).is_some_and(|id| processes.contains(&id))
        });
        let parked: Vec<VisitKey> = parked.map(|visit| visit.key.clone()).collect();
        if !parked.is_empty() {
            self.runs()
                .release(run, Some(parked), "code of its process was loaded")
                .await?;
        }
        Ok(())
    }
}
