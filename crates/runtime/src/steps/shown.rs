//! The process steps of a run, as they are shown to people.

use std::collections::HashMap;

use riverrun_engine::{Visit, VisitKey, Wait};
use riverrun_store::RunRecord;
use riverrun_types::{Name, RunId, VisitStatus};

use super::Steps;
use crate::{base::Result, queues::job_id, runs::Loaded};

impl Steps {
    /// The id of the job that runs a visit.
    pub fn job_of_visit(&self, run: &RunId, visit: &VisitKey) -> RunId {
        job_id(run, visit)
    }

    /// The processes that run steps of a run's flow, by the steps' names.
    pub async fn processes_of(&self, record: &RunRecord) -> Result<HashMap<Name, Name>> {
        let flow = self
            .flows()
            .compiled(&record.flow, Some(&record.version))
            .await?;
        let steps = flow.plan.steps.values();
        let run = steps.filter_map(|step| Some((step.name.clone(), step.process.clone()?)));
        Ok(run.collect())
    }

    /// A process that this server does not have, and for which a visit of the run waits.
    pub async fn missing_process(&self, loaded: &Loaded) -> Result<Option<Name>> {
        let steps = waiting_steps(loaded);
        if steps.is_empty() {
            return Ok(None);
        }
        let processes = self.processes_of(&loaded.record).await?;
        let mut named = steps.iter().filter_map(|step| processes.get(step));
        Ok(named
            .find(|process| !self.processes().is_known(process))
            .cloned())
    }
}

/// The steps whose visits wait for their jobs to begin.
fn waiting_steps(loaded: &Loaded) -> Vec<Name> {
    if loaded.state.status.is_ended() {
        return Vec::new();
    }
    let waits = |visit: &&Visit| {
        visit.status != VisitStatus::Running && matches!(visit.wait, Some(Wait::Job { .. }))
    };
    let waiting = loaded.state.visits.iter().filter(waits);
    waiting.map(|visit| visit.key.step.clone()).collect()
}
