//! The visit to which a job belongs.

use riverrun_engine::VisitKey;
use riverrun_types::{Name, RunId};
use serde::{Deserialize, Serialize};

/// A job's knowledge of its visit. Everything else is in the run's stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepPlace {
    pub run: RunId,
    pub step: Name,
    pub visit: u32,
    /// The process that runs it.
    pub process: Name,
    /// Attempts of the visit before the job's first.
    #[serde(default, skip_serializing_if = "riverrun_types::is_zero")]
    pub before: u32,
    /// The length of the run's stream with the decision that added the job, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
}

impl StepPlace {
    pub fn visit(&self) -> VisitKey {
        VisitKey {
            step: self.step.clone(),
            visit: self.visit,
        }
    }
}

/// The id of a visit's job: always the same, so that no visit ever has two.
pub(crate) fn job_id(run: &RunId, visit: &VisitKey) -> RunId {
    let VisitKey { step, visit } = visit;
    let text = match visit {
        1 => format!("{run}__{step}"),
        visit => format!("{run}__{step}.{visit}"),
    };
    RunId::checked(&text).unwrap_or_else(|_| RunId::of_content(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_named_by_its_visit() {
        let id = |run: &str, visit| {
            let step = Name::from("ship");
            job_id(&RunId::new(run), &VisitKey { step, visit }).to_string()
        };
        assert_eq!(id("r1", 1), "r1__ship");
        assert_eq!(id("r1", 2), "r1__ship.2");
        let long = "r".repeat(128);
        assert_eq!(id(&long, 1), id(&long, 1));
        assert_ne!(id(&long, 1), id(&long, 2));
        assert!(id(&long, 1).len() <= RunId::MAX_BYTES);
    }
}
