//! Registers the processes of the test as one flow.

use std::{collections::BTreeSet, sync::Mutex};

use async_trait::async_trait;
use riverrun::Riverrun;
use riverrun_protocol::{LoadedProcess, WorkError};
use riverrun_runtime::{Brought, Composable, Home, MadeFlows, Process, compose};
use riverrun_types::ErrorCode;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{
    plan::{Planned, Wanted, plan},
    refused::refused,
};

/// The flow that is played.
pub struct MadeFlow {
    pub id: String,
    /// The kinds of events that enter its steps.
    pub subscribes: BTreeSet<String>,
    /// The kinds that undo a step, each with the step.
    pub undone_by: Vec<(String, String)>,
}

pub struct TestHome {
    pub river: Riverrun,
    pub wanted: Wanted,
    pub planned: Mutex<Option<oneshot::Sender<Result<MadeFlow, WorkError>>>>,
}

#[async_trait]
impl Home for TestHome {
    fn take_in(&self, process: Process) -> bool {
        let mut process = process;
        // The times of a test are exact.
        process.config.policy.retry.jitter = 0.0;
        self.river.runtime().composer().take_in(process)
    }

    async fn make_flows(&self, brought: &Brought, _: &[LoadedProcess]) -> MadeFlows {
        let made = match plan(&brought.processes, &self.wanted) {
            Ok(planned) => self.register(&planned).await,
            Err(error) => Err(error),
        };
        let planned = self
            .planned
            .lock()
            .ok()
            .and_then(|mut planned| planned.take());
        if let Some(planned) = planned {
            let _ = planned.send(made);
        }
        MadeFlows::default()
    }
}

impl TestHome {
    async fn register(&self, planned: &Planned) -> Result<MadeFlow, WorkError> {
        let steps: Vec<Composable<'_>> = planned
            .steps
            .iter()
            .map(|(id, config)| Composable { id, config })
            .collect();
        let composed = compose(&steps);
        if !composed.issues.is_empty() {
            let messages: Vec<String> = composed
                .issues
                .iter()
                .map(|issue| format!("{}: {}", issue.path, issue.message))
                .collect();
            let error = WorkError::new(ErrorCode::ProcessInvalid, messages.join("; ")).permanent();
            return Err(error.details(&json!({ "issues": composed.issues })));
        }
        let Some(flow) = composed.flows.iter().find(|flow| flow.id() == planned.flow) else {
            let message = format!("the steps make no flow {}", planned.flow);
            return Err(WorkError::new(ErrorCode::FlowIncomplete, message).permanent());
        };
        let runtime = self.river.runtime();
        runtime
            .flows()
            .register(&flow.definition)
            .await
            .map_err(refused)?;
        let steps = flow.definition["steps"].as_object().into_iter().flatten();
        let (mut subscribes, mut undone_by) = (BTreeSet::new(), Vec::new());
        for (name, step) in steps {
            let subscriptions = step["subscriptions"].as_array().into_iter().flatten();
            let kinds = subscriptions.filter_map(|one| one["eventKind"].as_str());
            subscribes.extend(kinds.map(str::to_owned));
            let on = &step["compensation"]["on"];
            let kinds = on
                .as_array()
                .map_or(std::slice::from_ref(on), Vec::as_slice);
            let kinds = kinds.iter().filter_map(Value::as_str);
            undone_by.extend(kinds.map(|kind| (kind.to_owned(), name.clone())));
        }
        Ok(MadeFlow {
            id: planned.flow.clone(),
            subscribes,
            undone_by,
        })
    }
}
