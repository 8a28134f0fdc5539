//! Records of runs.

use riverrun_store::{Parent, Result, RunRecord};
use riverrun_types::{Millis, RunId, RunStatus};
use rusqlite::{Connection, Row};

use super::View;
use crate::{
    columns::{self, Extra, Payload, Payloads},
    error::translate,
};

/// The columns that [`record`] reads, in its order.
pub(super) const COLUMNS: &str = "r.no, r.id, r.flow, r.version, r.tenant, r.status, \
     r.created_ms, r.last_ms, r.len, r.turn, r.wake_ms, r.ended_ms, r.error, r.idem, r.parent, \
     r.extra, r.correlation";

pub(crate) fn run(view: View<'_>, id: &RunId) -> Result<Option<RunRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM runs r WHERE r.id = ?1");
    let mut statement = view.conn.prepare_cached(&sql).map_err(translate)?;
    let mut rows = statement.query([id.as_str()]).map_err(translate)?;
    match rows.next().map_err(translate)? {
        Some(row) => record(view, row).map(Some),
        None => Ok(None),
    }
}

pub(crate) fn runs(view: View<'_>, ids: &[RunId]) -> Result<Vec<RunRecord>> {
    let found = ids.iter().map(|id| run(view, id));
    found.filter_map(Result::transpose).collect()
}

pub(super) fn record(view: View<'_>, row: &Row<'_>) -> Result<RunRecord> {
    let mut columns = Payloads::of(row);
    let id: String = columns.plain(1, "the id")?;
    let (flow, version, tenant): (i64, i64, i64) = (
        columns.plain(2, "the flow")?,
        columns.plain(3, "the version")?,
        columns.plain(4, "the tenant")?,
    );
    let status = row.get(5).map_err(translate).and_then(columns::status);
    let status = columns.whole("the status", status)?;
    let created_ms: Millis = columns.plain(6, "the time of its creation")?;
    let last_ms = columns.plain(7, "the time of its last event")?;
    let parent: Option<String> = columns.plain(14, "the parent")?;
    let flow = columns.whole("the flow", view.names.text(flow))?;
    let version = columns.whole("the version", view.names.text(version))?;
    let tenant = columns.whole("the tenant", view.names.text_of(tenant))?;
    let mut record = RunRecord {
        id: RunId::new(&id),
        flow: flow.unwrap_or_default(),
        version: version.unwrap_or_default(),
        // It can be cancelled, and then removed.
        status: status.unwrap_or(RunStatus::Waiting),
        created_ms,
        updated_ms: created_ms.max(last_ms),
        ended_ms: columns.plain(11, "the time of its end")?,
        wake_ms: columns.plain(10, "its next time")?,
        error: None,
        idempotency_key: columns.plain(13, "the idempotency key")?,
        tenant: tenant.flatten(),
        tags: Vec::new(),
        metadata: None,
        parent: parent.map(|run| Parent {
            run: RunId::new(&run),
            step: Default::default(),
            visit: 0,
        }),
        origin: None,
        correlation: columns.plain(16, "the correlation id")?,
        len: match columns.whole("the number of its events", columns::count(row, 8))? {
            Some(len) => len,
            None => chunked_len(view.conn, row.get(0).map_err(translate)?)
                .map_err(translate)?
                .unwrap_or_default(),
        },
        turn: columns.count(9, "the number of its decisions")?,
    };
    record.error = columns.json(12, "the error")?;
    let extra = || {
        let extra: Option<Payload> = row.get(15).map_err(translate)?;
        extra.map(|extra| Extra::read(&extra.0)).transpose()
    };
    let extra = columns.whole("tags, metadata and origin", extra())?;
    if let Some(extra) = extra.flatten() {
        extra.fill(&mut record);
    }
    record.error = columns.damage().or(record.error);
    Ok(record)
}

/// The number of events that a stream has had according to its chunks, for a row whose own number
/// is damaged. None if all chunks were removed.
pub(crate) fn chunked_len(conn: &Connection, stream: i64) -> rusqlite::Result<Option<u64>> {
    conn.prepare_cached("SELECT max(first + count) FROM chunks WHERE stream = ?1")?
        .query_row([stream], |row| row.get(0))
}
