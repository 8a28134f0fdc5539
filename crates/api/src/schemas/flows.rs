//! Flows: their registration, lists and versions.

use serde_json::Value;
use utoipa::ToSchema;

/// One thing to say about a definition.
#[derive(ToSchema)]
pub struct Issue {
    /// A dot path into the definition.
    pub path: String,
    pub rule: String,
    pub message: String,
    /// `error` or `warning`.
    pub severity: String,
}

/// What a registration did.
#[derive(ToSchema)]
pub struct RegisteredFlow {
    pub id: String,
    pub version: String,
    /// False where the same definition was there already.
    pub created: bool,
    /// Warnings.
    pub issues: Vec<Issue>,
}

#[derive(ToSchema)]
pub struct Validation {
    pub valid: bool,
    pub issues: Vec<Issue>,
}

/// A flow as lists show it.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct FlowSummary {
    pub id: String,
    pub version: String,
    /// ISO 8601.
    pub created_at: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub tags: Option<Vec<String>>,
    /// How many steps it has.
    pub steps: u64,
}

#[derive(ToSchema)]
pub struct FlowList {
    pub items: Vec<FlowSummary>,
}

/// A registered version.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct FlowDetail {
    pub id: String,
    pub version: String,
    /// ISO 8601.
    pub created_at: String,
    /// As it was registered; `/api/schemas/flow` is its schema.
    pub definition: Value,
}
