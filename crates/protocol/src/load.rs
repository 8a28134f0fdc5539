//! The processes of a program.

use riverrun_types::Json;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    pub file: String,
    pub revision: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    pub processes: Vec<LoadedProcess>,
}

/// A process as its module or its worker describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadedProcess {
    /// Given by remote workers; a runner's processes are named by their file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub export: Option<String>,
    #[serde(default = "Json::null")]
    pub config: Json,
}
