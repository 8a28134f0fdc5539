//! Flows: their registration, lists and versions.

use serde_json::Value;
use utoipa::ToSchema;

/// An issue of a definition.
#[derive(ToSchema)]
pub struct Issue {
    /// A dot path into the definition.
    pub path: String,
    pub rule: String,
    pub message: String,
    /// `error` or `warning`.
    pub severity: String,
}

/// The result of a registration.
#[derive(ToSchema)]
pub struct RegisteredFlow {
    pub id: String,
    pub version: String,
    /// False if the same definition was registered before.
    pub created: bool,
    /// Warnings.
    pub issues: Vec<Issue>,
}

#[derive(ToSchema)]
pub struct Validation {
    pub valid: bool,
    pub issues: Vec<Issue>,
}

/// A flow in a list.
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
    /// The number of its steps.
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
    /// The registered definition; `/api/schemas/flow` is its schema.
    pub definition: Value,
}
