//! The server: its handlers, health and version.

use riverrun_types::Json;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A step type.
#[derive(Serialize, ToSchema)]
pub struct HandlerInfo {
    /// The `type` of the step.
    pub r#type: String,
    pub about: String,
    /// `none`: its output depends on its input alone. `some`: it has side effects.
    pub effects: &'static str,
    /// JSON Schema of a step's `config`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
}

#[derive(Serialize, ToSchema)]
pub struct HandlerList {
    pub items: Vec<HandlerInfo>,
}

#[derive(Serialize, ToSchema)]
pub struct Health {
    /// `ok`.
    pub status: &'static str,
}

#[derive(Serialize, ToSchema)]
pub struct Ready {
    /// `ok`.
    pub status: &'static str,
    pub expressions: Expressions,
}

/// The child processes that evaluate expressions, counted since the server started.
#[derive(Serialize, ToSchema)]
pub struct Expressions {
    /// Running processes.
    pub processes: u64,
    /// Started processes.
    pub started: u64,
    /// Processes that were killed because an expression exceeded its time.
    pub killed: u64,
    /// Processes that ended by themselves.
    pub crashed: u64,
    /// Evaluations that were rejected because no process was free in time.
    pub unavailable: u64,
}

#[derive(Serialize, ToSchema)]
pub struct Version {
    pub name: &'static str,
    pub version: &'static str,
    /// Facts about the store, for people.
    #[schema(value_type = Value)]
    pub store: Json,
}
