//! A run, for the program that embeds riverrun.

use riverrun_engine::Failure;
use riverrun_runtime::{Loaded, RunView};
use riverrun_types::{RunId, RunStatus};
use serde_json::Value;

/// A run at the moment it was read.
#[derive(Clone, Debug)]
pub struct Run {
    pub id: RunId,
    pub flow: String,
    pub version: String,
    pub status: RunStatus,
    pub input: Value,
    /// What the run's stream reduces to. Numbers beyond 64 bits are rounded here; read them with
    /// [`Riverrun::state`](crate::Riverrun::state).
    pub state: Value,
    /// Once it has completed: the value that the flow's `result` names, or the output of the step
    /// that came last.
    pub result: Option<Value>,
    /// Why it failed.
    pub error: Option<Failure>,
}

impl Run {
    pub fn is_completed(&self) -> bool {
        self.status == RunStatus::Completed
    }
}

impl From<RunView> for Run {
    fn from(view: RunView) -> Self {
        let Loaded { record, state } = view.loaded;
        Self {
            id: record.id,
            flow: record.flow.to_string(),
            version: record.version.to_string(),
            status: state.status,
            input: state.input.value(),
            state: serde_json::to_value(&state.state).unwrap_or_default(),
            result: state.result.as_ref().map(|result| result.value()),
            error: state.error.clone(),
        }
    }
}
