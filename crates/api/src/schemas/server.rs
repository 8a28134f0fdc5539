//! The server itself: what it can run, how it is.

use riverrun_types::Json;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A kind of step that this server can run.
#[derive(Serialize, ToSchema)]
pub struct HandlerInfo {
    /// The `type` that steps name it by.
    pub r#type: String,
    pub about: String,
    /// `none`: it depends on its input alone and touches nothing. `some`: it talks to the world.
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

/// The processes that evaluate expressions, counted since the server's start.
#[derive(Serialize, ToSchema)]
pub struct Expressions {
    /// Processes that are there now.
    pub processes: u64,
    /// Processes that were started.
    pub started: u64,
    /// Processes that were killed because an expression did not end.
    pub killed: u64,
    /// Processes that ended by themselves.
    pub crashed: u64,
    /// Evaluations that were refused because no process could take them up in time.
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
