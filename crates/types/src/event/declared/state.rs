//! Writes of state.

use serde::{Deserialize, Serialize};

use crate::{Json, Path, State, event::EventData, json::present};

macro_rules! state {
    ($($before:tt)*) => { collect! { $($before)*

50 StateSet "state.set" run(StateSet);
51 StateDelete "state.delete" run(StateDelete);
52 StateBatch "state.batch" run(StateBatch);
53 StateSnapshot "state.snapshot" run(State);

    } };
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateSet {
    pub key: Path,
    pub value: Json,
}

impl EventData for StateSet {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateDelete {
    pub key: Path,
}

impl EventData for StateDelete {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateBatch {
    pub operations: Vec<StateOp>,
}

impl EventData for StateBatch {}

/// One write of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateOp {
    #[serde(rename = "type")]
    pub kind: OpKind,
    pub key: Path,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub value: Option<Json>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpKind {
    Set,
    Delete,
}

impl EventData for State {}
