//! The steps of a run that processes run, as people are shown them.

use std::collections::HashMap;

use riverrun_engine::{Visit, VisitKey, Wait};
use riverrun_store::RunRecord;
use riverrun_types::{Name, RunId, VisitStatus};

use crate::queues::job_id;
use crate::{base::Result, runs::Loaded, runtime::Runtime};

impl Runtime {
    /// The id of the job that runs a visit.
    pub fn job_of_visit(&self, run: &RunId, visit: &VisitKey) -> RunId {
        job_id(run, visit)
    }

    /// The processes that run steps of a run's flow, by the steps' names.
    pub async fn processes_of(&self, record: &RunRecord) -> Result<HashMap<Name, Name>> {
        let flow = self.compiled(&record.flow, Some(&record.version)).await?;
        let steps = flow.plan.steps.values();
        let run = steps.filter_map(|step| Some((step.name.clone(), step.process.clone()?)));
        Ok(run.collect())
    }

    /// A process that this server does not have, and that a visit of the run waits for.
    pub async fn missing_process(&self, loaded: &Loaded) -> Result<Option<Name>> {
        let steps = waiting_steps(loaded);
        if steps.is_empty() {
            return Ok(None);
        }
        let processes = self.processes_of(&loaded.record).await?;
        let mut named = steps.iter().filter_map(|step| processes.get(step));
        Ok(named.find(|process| !self.has_process(process)).cloned())
    }

    /// Whether there is a process, or one is expected, or a file of it does not load.
    pub(crate) fn has_process(&self, id: &str) -> bool {
        self.processes().get(id).is_some()
            || self.processes().is_expected(id)
            || self.broken().of_process(id).is_some()
    }

    /// Says which processes are about to be loaded, by the ids of their files: definitions may name
    /// them, and what they export, already.
    pub fn expect_processes(&self, ids: impl IntoIterator<Item = String>) {
        self.processes().expect(ids);
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
