//! The stored form of values in columns.

use riverrun_store::{Error, Origin, RunRecord, checksum};
use riverrun_types::{Json, Name, RunId, RunStatus};
use rusqlite::{
    Row, ToSql,
    types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, Value, ValueRef},
};
use serde::{Deserialize, Serialize};

use crate::error::{corrupt, translate};

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

/// A payload to store: its text and its checksum, as a BLOB.
pub(crate) struct Sealed<'a>(pub(crate) &'a str);

impl<'a> Sealed<'a> {
    pub(crate) fn json(json: &'a Json) -> Self {
        Self(json.as_str())
    }
}

impl ToSql for Sealed<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Owned(Value::Blob(checksum::seal(self.0))))
    }
}

/// A payload from a column. Older versions wrote TEXT without a checksum.
pub(crate) struct Payload(pub(crate) String);

#[derive(Debug, thiserror::Error)]
#[error("it does not match its checksum")]
struct Mismatch;

impl FromSql for Payload {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Blob(sealed) => checksum::unseal(sealed)
                .map(|text| Self(text.to_owned()))
                .ok_or_else(|| FromSqlError::Other(Box::new(Mismatch))),
            value => value.as_str().map(|text| Self(text.to_owned())),
        }
    }
}

pub(crate) fn json(payload: Payload) -> Result<Json, Error> {
    Json::stored(payload.0).map_err(corrupt)
}

/// The payloads of a row in a list. A damaged one is left out and named, so that the row can still
/// be listed, and its owner cancelled or deleted.
pub(crate) struct Payloads<'a, 'stmt> {
    row: &'a Row<'stmt>,
    damaged: Vec<&'static str>,
}

/// A number of events or decisions. An impossibly large one is damaged: it could not grow.
pub(crate) fn count(row: &Row<'_>, at: usize) -> Result<u64, Error> {
    match row.get(at).map_err(translate)? {
        count @ 0..=MAX_COUNT => Ok(count.cast_unsigned()),
        count => Err(corrupt(format_args!("{count} is no count"))),
    }
}

const MAX_COUNT: i64 = 1 << 52;

impl<'a, 'stmt> Payloads<'a, 'stmt> {
    pub(crate) fn of(row: &'a Row<'stmt>) -> Self {
        Self {
            row,
            damaged: Vec::new(),
        }
    }

    pub(crate) fn json(&mut self, at: usize, name: &'static str) -> Result<Option<Json>, Error> {
        let read = || {
            let payload: Option<Payload> = self.row.get(at).map_err(translate)?;
            payload.map(json).transpose()
        };
        let read = read();
        Ok(self.whole(name, read)?.flatten())
    }

    /// A column that is no payload. A damaged one is left out like a payload.
    pub(crate) fn plain<T: FromSql + Default>(
        &mut self,
        at: usize,
        name: &'static str,
    ) -> Result<T, Error> {
        let read = self.row.get(at).map_err(translate);
        Ok(self.whole(name, read)?.unwrap_or_default())
    }

    /// A number that counts.
    pub(crate) fn count(&mut self, at: usize, name: &'static str) -> Result<u64, Error> {
        let read = count(self.row, at);
        Ok(self.whole(name, read)?.unwrap_or_default())
    }

    /// The value, unless it is damaged.
    pub(crate) fn whole<T>(
        &mut self,
        name: &'static str,
        read: Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(Error::Corrupt(_)) => {
                self.damaged.push(name);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The error that replaces a left out value.
    pub(crate) fn damage(&self) -> Option<Json> {
        if self.damaged.is_empty() {
            return None;
        }
        let message = format!(
            "the stored data is damaged: {} cannot be read",
            self.damaged.join(", ")
        );
        Some(damage(&message))
    }
}

/// The error of a row whose payload is damaged.
pub(crate) fn damage(message: &str) -> Json {
    let code = Error::Corrupt(String::new()).code();
    Json::from(serde_json::json!({ "code": code, "message": message }))
}

/// Rarely used fields, as one JSON column.
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

/// A member that is present counts, even if it is null.
pub(crate) fn present<'de, D: serde::Deserializer<'de>>(
    input: D,
) -> Result<Option<Json>, D::Error> {
    Json::deserialize(input).map(Some)
}

impl Extra {
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(corrupt)
    }

    /// Fills a record with the column's fields.
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
