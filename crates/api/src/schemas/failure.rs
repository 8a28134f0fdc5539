//! The one shape of failures.

use riverrun_types::ErrorCode;
use serde_json::Value;
use utoipa::ToSchema;

/// Every failure has this shape.
#[derive(ToSchema)]
pub struct Failure {
    pub error: FailureBody,
}

#[derive(ToSchema)]
pub struct FailureBody {
    /// Stable: what programs should look at.
    #[schema(example = json!(ErrorCode::RunNotFound))]
    pub code: String,
    /// For people; may change.
    pub message: String,
    /// What belongs to the code: issues, a field, a limit.
    pub details: Option<Value>,
    /// A page about the code.
    pub docs: Option<String>,
}
