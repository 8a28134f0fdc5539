//! How values lie in columns.

use riverrun_store::{Error, Origin, RunRecord};
use riverrun_types::{Json, Name, RunId, RunStatus};
use serde::{Deserialize, Serialize};

use crate::error::corrupt;

/// The numbers of statuses, as the first migration lists them.
const STATUSES: [RunStatus; 7] = [
    RunStatus::Pending,
    RunStatus::Running,
    RunStatus::Waiting,
    RunStatus::Paused,
    RunStatus::Completed,
    RunStatus::Failed,
    RunStatus::Cancelled,
];

pub(crate) fn status_code(status: RunStatus) -> i64 {
    match status {
        RunStatus::Pending => 0,
        RunStatus::Running => 1,
        RunStatus::Waiting => 2,
        RunStatus::Paused => 3,
        RunStatus::Completed => 4,
        RunStatus::Failed => 5,
        RunStatus::Cancelled => 6,
    }
}

pub(crate) fn status(code: i64) -> Result<RunStatus, Error> {
    usize::try_from(code)
        .ok()
        .and_then(|code| STATUSES.get(code).copied())
        .ok_or_else(|| corrupt(format_args!("{code} is no status of a run")))
}

/// Lease tokens are 64 bits; a column holds the same bits with a sign.
pub(crate) fn token_code(token: u64) -> i64 {
    token.cast_signed()
}

pub(crate) fn json(text: String) -> Result<Json, Error> {
    Json::stored(text).map_err(corrupt)
}

/// What few runs have, as one JSON column.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Extra {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tags: Vec<Name>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub(crate) metadata: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin_run: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin_event: Option<riverrun_types::EventId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent_step: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent_visit: Option<u32>,
}

/// What is there is there, even if it is null.
pub(crate) fn present<'de, D: serde::Deserializer<'de>>(
    input: D,
) -> Result<Option<Json>, D::Error> {
    Json::deserialize(input).map(Some)
}

impl Extra {
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(corrupt)
    }

    /// Gives a record what the column holds.
    pub(crate) fn fill(self, record: &mut RunRecord) {
        record.tags = self.tags;
        record.metadata = self.metadata;
        record.origin = self.origin_run.map(|run| Origin {
            run,
            event: self.origin_event,
        });
        if let Some(parent) = &mut record.parent {
            parent.step = self.parent_step.unwrap_or_default();
            parent.visit = self.parent_visit.unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_have_one_number_each() {
        for status in RunStatus::ALL {
            assert_eq!(super::status(status_code(*status)).unwrap(), *status);
        }
        assert!(status(7).is_err());
        assert!(status(-1).is_err());
    }
}
