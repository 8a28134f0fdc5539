//! Records of runs.

use riverrun_store::{Parent, Result, RunRecord};
use riverrun_types::RunId;
use rusqlite::Row;

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
    // What the closure reads is SQLite's to fail at, what follows is ours.
    let read = || -> rusqlite::Result<_> {
        let id: String = row.get(1)?;
        let numbers: (i64, i64, i64, i64) = (row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?);
        let parent: Option<String> = row.get(14)?;
        let created_ms = row.get(6)?;
        let record = RunRecord {
            id: RunId::new(&id),
            flow: Default::default(),
            version: Default::default(),
            status: riverrun_types::RunStatus::Pending,
            created_ms,
            updated_ms: created_ms.max(row.get(7)?),
            ended_ms: row.get(11)?,
            wake_ms: row.get(10)?,
            error: None,
            idempotency_key: row.get(13)?,
            tenant: None,
            tags: Vec::new(),
            metadata: None,
            parent: parent.map(|run| Parent {
                run: RunId::new(&run),
                step: Default::default(),
                visit: 0,
            }),
            origin: None,
            correlation: row.get(16)?,
            len: row.get(8)?,
            turn: row.get(9)?,
        };
        Ok((record, numbers))
    };
    let (mut record, (flow, version, tenant, status)) = read().map_err(translate)?;
    record.flow = view.names.text(flow)?;
    record.version = view.names.text(version)?;
    record.tenant = view.names.text_of(tenant)?;
    record.status = columns::status(status)?;
    let mut payloads = Payloads::of(row);
    record.error = payloads.json(12, "the error")?;
    let extra = || {
        let extra: Option<Payload> = row.get(15).map_err(translate)?;
        extra.map(|extra| Extra::read(&extra.0)).transpose()
    };
    let extra = payloads.whole("tags, metadata and origin", extra())?;
    if let Some(extra) = extra.flatten() {
        extra.fill(&mut record);
    }
    record.error = payloads.damage().or(record.error);
    Ok(record)
}
