//! Errors of the engine, as the test process receives them.

use riverrun_protocol::WorkError;
use riverrun_runtime::Error;
use serde_json::json;

pub fn refused(error: impl Into<riverrun::Error>) -> WorkError {
    let error = error.into();
    let mut refusal = WorkError::new(error.code(), error.to_string()).permanent();
    let issues = match &error {
        riverrun::Error::Runtime(Error::FlowInvalid(issues)) => {
            let errors = issues
                .iter()
                .filter(|issue| issue.severity == riverrun::Severity::Error);
            json!(errors.collect::<Vec<_>>())
        }
        riverrun::Error::Runtime(Error::InputInvalid(issues) | Error::StateInvalid(issues)) => {
            json!(issues)
        }
        _ => return refusal,
    };
    for issue in issues.as_array().into_iter().flatten() {
        let text = |member: &str| issue[member].as_str().unwrap_or_default().to_owned();
        refusal.message += &format!("; {}: {}", text("path"), text("message"));
    }
    refusal.details(&json!({ "issues": issues }))
}

pub fn unsettled(error: riverrun::Unsettled) -> WorkError {
    refused(error)
}
