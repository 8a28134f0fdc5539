//! Why an attempt, a run or an operation failed.

use serde::{Deserialize, Serialize};

use crate::{Code, Json, Name, json::present};

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Failure {
    pub code: Code,
    pub message: String,
    /// The details of a thrown error. Few failures have them, so they are boxed.
    pub thrown: Option<Box<Thrown>>,
    pub step_id: Option<Name>,
    pub details: Option<Json>,
    /// `false` stops retries; `true` or absent leaves it to the policy.
    pub retriable: Option<bool>,
    /// Try again after this long instead of the policy's delay.
    pub retry_after_ms: Option<u64>,
}

/// The details that the handler's language gives for an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thrown {
    /// The kind of error.
    pub name: Option<Box<str>>,
    /// Where in the code it was thrown.
    pub stack: Option<Box<str>>,
}

impl Failure {
    pub fn new(code: impl Into<Code>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            thrown: None,
            step_id: None,
            details: None,
            retriable: None,
            retry_after_ms: None,
        }
    }

    /// Adds the details of the handler's language.
    pub fn thrown(mut self, name: Option<Box<str>>, stack: Option<Box<str>>) -> Self {
        let is_known = name.is_some() || stack.is_some();
        self.thrown = is_known.then(|| Box::new(Thrown { name, stack }));
        self
    }

    pub fn details(mut self, details: impl Into<Json>) -> Self {
        self.details = Some(details.into());
        self
    }

    /// The failure as others than its own step see it: they need the step's name, and neither the
    /// way to it through the code nor advice on retries that are over.
    pub fn at(self, step: &Name) -> Self {
        Self {
            step_id: Some(step.clone()),
            thrown: None,
            retriable: None,
            retry_after_ms: None,
            ..self
        }
    }

    pub fn permanent(mut self) -> Self {
        self.retriable = Some(false);
        self
    }
}

/// A failure as events have it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    code: Code,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Box<str>>,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stack: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step_id: Option<Name>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    details: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retriable: Option<bool>,
    /// FlowMonkey's name for it, which earlier versions wrote. An error that was passed on may have
    /// both; `retriable` counts.
    #[serde(default, skip_serializing)]
    retryable: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
}

impl From<Written> for Failure {
    fn from(written: Written) -> Self {
        Self {
            step_id: written.step_id,
            details: written.details,
            retriable: written.retriable.or(written.retryable),
            retry_after_ms: written.retry_after_ms,
            ..Self::new(written.code, written.message)
        }
        .thrown(written.name, written.stack)
    }
}

impl From<Failure> for Written {
    fn from(failure: Failure) -> Self {
        let Thrown { name, stack } = failure.thrown.map(|thrown| *thrown).unwrap_or_default();
        Self {
            code: failure.code,
            name,
            message: failure.message,
            stack,
            step_id: failure.step_id,
            details: failure.details,
            retriable: failure.retriable,
            retryable: None,
            retry_after_ms: failure.retry_after_ms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_name_of_retriable_is_read_and_todays_counts() {
        for retriable in [
            r#""retriable":false"#,
            r#""retryable":false"#,
            r#""retriable":false,"retryable":true"#,
            r#""retryable":true,"retriable":false"#,
        ] {
            let said = format!(r#"{{"code":"E","message":"m",{retriable}}}"#);
            let read: Failure = Json::parse_text(said).unwrap().read().unwrap();
            let written = Json::of(&read);
            let expected = r#"{"code":"E","message":"m","retriable":false}"#;
            assert_eq!(written.as_str(), expected, "{retriable}");
        }
    }
}
