//! The row of an await.

use riverrun_store::{
    AwaitRecord, AwaitState, Awaited, Error, Matcher, NewAwait, Result, equality::Shape,
};
use riverrun_types::{Json, Millis, Name, Path, RunId};
use rusqlite::Row;
use serde::{Deserialize, Serialize};

use super::{CLOSED, FIRED, OPEN};
use crate::{
    columns::{Payload, present},
    core::Core,
    error::{Failure, Worked, corrupt, translate},
};

pub(crate) const COLUMNS: &str = "a.no, a.id, r.id, a.step, a.visit, a.tenant, a.state,
    a.created_ms, a.expires_ms, a.fired_ms, a.fired, a.body, s.kind, s.class";
pub(crate) const TABLES: &str = "awaits a CROSS JOIN shapes s ON s.no = a.shape
    CROSS JOIN runs r ON r.no = a.run";

pub(crate) fn state_code(state: AwaitState) -> i64 {
    match state {
        AwaitState::Open => OPEN,
        AwaitState::Fired => FIRED,
        AwaitState::Closed => CLOSED,
    }
}

pub(super) fn state(code: i64) -> Result<AwaitState> {
    let known = AwaitState::ALL.into_iter();
    let mut states = known.filter(|state| state_code(*state) == code);
    let state = states.next();
    state.ok_or_else(|| corrupt(format_args!("{code} is no state of an await")))
}

/// The fields of an await beside its kind and key.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    equal: Vec<(Path, Json)>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    filter: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lookback_ms: Option<Millis>,
    /// Of an await that looks back and has a filter: the events that it has already consumed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    given: Vec<Json>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        rename = "door",
        deserialize_with = "present"
    )]
    callback: Option<Json>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    many: bool,
}

/// The column `body`; nothing for an await of any event of its kind.
pub(super) fn body(new: &NewAwait) -> Option<Json> {
    let body = match &new.what {
        Awaited::Event {
            matcher,
            lookback_ms,
            ..
        } => Body {
            equal: matcher.equal().to_vec(),
            filter: matcher.filter().cloned(),
            lookback_ms: *lookback_ms,
            given: match (matcher.filter(), lookback_ms) {
                (Some(_), Some(_)) => new.given.clone(),
                _ => Vec::new(),
            },
            ..Body::default()
        },
        Awaited::Callback { callback, many } => Body {
            callback: Some(callback.clone()),
            many: *many,
            ..Body::default()
        },
    };
    let text = Json::of(&body);
    (text.as_str() != "{}").then_some(text)
}

/// How far an await looks back, and the events that it has already consumed.
pub(super) fn looks_back(body: Option<Payload>) -> Result<Option<(Millis, Vec<Json>)>> {
    let body = read(body)?;
    Ok(body.lookback_ms.map(|ms| (ms, body.given)))
}

/// The paths and the key of an await, derived from its equalities.
pub(crate) fn shape_of(body: Option<Payload>) -> Result<Shape> {
    Ok(Shape::of(&read(body)?.equal))
}

fn read(body: Option<Payload>) -> Result<Body> {
    match body {
        Some(text) => serde_json::from_str(&text.0).map_err(corrupt),
        None => Ok(Body::default()),
    }
}

fn what(body: Option<Payload>, kind: Name, class: i64) -> Result<Awaited> {
    let body = read(body)?;
    if class == super::shapes::CALLBACK {
        return Ok(Awaited::Callback {
            callback: body.callback.unwrap_or_else(Json::null),
            many: body.many,
        });
    }
    let matcher = match (body.filter, body.equal) {
        (Some(filter), equal) => Matcher::Filter { equal, filter },
        (None, equal) if equal.is_empty() => Matcher::Any,
        (None, equal) => Matcher::Equal(equal),
    };
    Ok(Awaited::Event {
        kind,
        matcher,
        lookback_ms: body.lookback_ms,
    })
}

/// The number of an await and its record, without its values, of [`COLUMNS`].
pub(crate) fn record(row: &Row<'_>) -> Result<(i64, AwaitRecord)> {
    let read = || -> rusqlite::Result<_> {
        let run: String = row.get(2)?;
        let record = AwaitRecord {
            id: row.get(1)?,
            run: RunId::new(&run),
            step: row.get(3)?,
            visit: row.get(4)?,
            tenant: row.get(5)?,
            state: AwaitState::Open,
            created_ms: row.get(7)?,
            expires_ms: row.get(8)?,
            fired_ms: row.get(9)?,
            fired: row.get(10)?,
            values: Vec::new(),
            what: Awaited::Callback {
                callback: Json::null(),
                many: false,
            },
        };
        Ok((row.get(0)?, record, row.get(6)?, row.get(12)?, row.get(13)?))
    };
    let (no, mut record, code, kind, class) = read().map_err(translate)?;
    record.state = state(code)?;
    let body: Option<Payload> = row
        .get(11)
        .map_err(translate)
        .map_err(|error| corrupt(format_args!("what await {} waits for: {error}", record.id)))?;
    record.what = what(body, kind, class)?;
    Ok::<_, Error>((no, record))
}

/// The await of an id, as the writer reads it.
pub(crate) fn load(core: &Core, id: &str) -> Worked<Option<AwaitRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE a.id = ?1");
    let mut statement = core.conn.prepare_cached(&sql)?;
    let mut rows = statement.query([id])?;
    match rows.next()? {
        Some(row) => Ok(Some(record(row).map_err(Failure::Refused)?.1)),
        None => Ok(None),
    }
}
