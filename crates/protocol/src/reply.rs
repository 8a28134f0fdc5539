//! The successful end of an invocation: a value, or a suspension.

use riverrun_types::Json;
use serde::{Deserialize, Serialize};

use crate::{JournalEntry, WorkError};

/// How an invocation ended well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
    /// Of a batch: for each job a value or an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<ReplyItem>>,
    /// Of a step: its code waits, and is to be called again when that is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended: Option<Suspended>,
    /// Of a step that waits: what its code has read since something was last recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<JournalEntry>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplyItem {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
    #[serde(
        default,
        deserialize_with = "coded",
        skip_serializing_if = "Option::is_none"
    )]
    pub error: Option<WorkError>,
}

/// The error of one job of a batch has the code that it would have alone.
fn coded<'de, D: serde::Deserializer<'de>>(given: D) -> Result<Option<WorkError>, D::Error> {
    let error = Option::<WorkError>::deserialize(given)?;
    Ok(error.map(WorkError::of_handler))
}

/// What the code of a step waits for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Suspended {
    /// `time`, `event`, `trigger`, or `retry` where the code has only operations left whose next try
    /// has its time.
    #[serde(rename = "type")]
    pub kind: String,
    /// Of a time: when, as ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_at: Option<String>,
    /// Of a time: after how many milliseconds, by the server's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_ms: Option<u64>,
    /// Of an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_kind: Option<String>,
    /// Of an event: values that it has at dot paths.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub equal: Option<Json>,
    /// Of an event: the source of a function of the event.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Of an event: those of the last so many milliseconds count too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback_ms: Option<u64>,
    /// Of an event: `run` in place of a time, for the events since the run began, which is what
    /// holds where neither is said; `none` for those from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback: Option<String>,
    /// Of a trigger: the id that `await.trigger` answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_error_of_one_job_of_a_batch_has_a_code() {
        let reply = json!({"results": [
            {"value": 1}, {"error": {"message": "plain"}}, {"error": {"code": "CARD"}},
        ]});
        let reply: Reply = Json::of(&reply).read().unwrap();
        let errors = reply.results.unwrap().into_iter().map(|item| item.error);
        let codes: Vec<Option<String>> = errors.map(|error| Some(error?.code.into())).collect();
        let expected = [None, Some("HANDLER_ERROR"), Some("CARD")];
        assert_eq!(codes, expected.map(|code| code.map(str::to_owned)));
    }
}
