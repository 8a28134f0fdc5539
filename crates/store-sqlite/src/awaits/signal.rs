//! Delivering an event to all awaits of its kind.

use riverrun_store::{
    Signal,
    judge::{self, Delivery, DeliveryRows, ShapeRow},
};
use riverrun_types::{Json, Name, RunId};
use rusqlite::{OptionalExtension, Row, params};

use super::{Wakes, fire, lookback, shapes};
use crate::{
    columns::Sealed,
    core::Core,
    error::{Failure, Worked},
};

pub(crate) fn signal(core: &Core, signal: &Signal, event: &Json, wakes: &mut Wakes) -> Worked<()> {
    let seq = log(core, signal, event)?;
    let (shapes, is_listened) = match core.quiet.knows(&signal.kind) {
        true => (Vec::new(), false),
        false => audience(core, &signal.kind)?,
    };
    let mut rows = Rows {
        core,
        signal,
        event,
        seq,
        wakes,
    };
    let delivery = judge::deliver(&mut rows, signal, event, &shapes, is_listened)?;
    match delivery {
        Delivery::Done => Ok(()),
        Delivery::Unheard => count_unheard(core, signal),
        Delivery::Outbox | Delivery::Rest => {
            let is_over = delivery == Delivery::Rest;
            core.conn
                .prepare_cached("INSERT INTO signals (emit, kind, over) VALUES (?1, ?2, ?3)")?
                .execute((seq, &*signal.kind, is_over))?;
            wakes.signalled = true;
            Ok(())
        }
    }
}

/// The rows of an event that is delivered.
struct Rows<'a> {
    core: &'a Core,
    signal: &'a Signal,
    event: &'a Json,
    seq: i64,
    wakes: &'a mut Wakes,
}

impl DeliveryRows for Rows<'_> {
    type Error = Failure;
    type Await = fire::Target;

    fn remember(&mut self, shape: i64, key: &str) -> Worked<()> {
        lookback::remember(&self.core.conn, shape, key, self.signal.now_ms, self.seq)
    }

    fn open(&mut self, shape: i64, key: &str, limit: usize) -> Worked<Vec<fire::Target>> {
        waiting(self.core, self.signal, shape, key, limit)
    }

    fn is_behind(&mut self) -> Worked<bool> {
        is_behind(self.core, &self.signal.kind)
    }

    fn fire(&mut self, shape: i64, awaits: &[fire::Target]) -> Worked<()> {
        for target in awaits {
            let (event, now_ms) = (self.event.as_str(), self.signal.now_ms);
            fire::give(self.core, target, event, now_ms, self.wakes)?;
        }
        shapes::shut(&self.core.conn, shape, awaits.len())
    }
}

/// The awaits of a kind, and whether it has a listener.
fn audience(core: &Core, kind: &Name) -> Worked<(Vec<ShapeRow>, bool)> {
    let (shapes, is_listened) = (shapes::of_kind(&core.conn, kind)?, is_listened(core, kind)?);
    if shapes.is_empty() && !is_listened {
        core.quiet.learn(kind);
    }
    Ok((shapes, is_listened))
}

/// Whether an earlier event of the kind is in the outbox because more awaits equal it than one
/// signal fires.
fn is_behind(core: &Core, kind: &str) -> Worked<bool> {
    let found: Option<i64> = core
        .conn
        .prepare_cached("SELECT 1 FROM signals WHERE kind = ?1 AND over > 0 LIMIT 1")?
        .query_row([kind], |row| row.get(0))
        .optional()?;
    Ok(found.is_some())
}

/// Counts an event without a subscriber.
fn count_unheard(core: &Core, signal: &Signal) -> Worked<()> {
    core.conn
        .prepare_cached(
            "INSERT INTO unheard (kind, count, last_ms) VALUES (?1, 1, ?2)
             ON CONFLICT (kind) DO UPDATE SET count = count + 1, last_ms = max(last_ms, ?2)",
        )?
        .execute((&*signal.kind, signal.now_ms))?;
    core.conn
        .prepare_cached("UPDATE meta SET value = value + 1 WHERE key = 'unheard'")?
        .execute([])?;
    Ok(())
}

fn log(core: &Core, signal: &Signal, event: &Json) -> Worked<i64> {
    core.conn
        .prepare_cached(
            "INSERT INTO emits (kind, ms, tenant, stream_kind, stream_id, event)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            &*signal.kind,
            signal.now_ms,
            signal.tenant.as_deref(),
            &*signal.stream.kind,
            &*signal.stream.id,
            Sealed::json(event),
        ])?;
    Ok(core.conn.last_insert_rowid())
}

/// Up to `limit` open awaits under a key that the event is for. The index includes the tenant, so
/// other tenants' awaits are not read.
fn waiting(
    core: &Core,
    signal: &Signal,
    shape: i64,
    key: &str,
    limit: usize,
) -> Worked<Vec<fire::Target>> {
    const COLUMNS: &str = "SELECT a.no, a.run, r.id, a.fired
        FROM awaits a INDEXED BY awaits_open CROSS JOIN runs r ON r.no = a.run
        WHERE a.shape = ?1 AND a.key = ?2 AND a.state = 0
            AND (a.expires_ms IS NULL OR a.expires_ms >= ?3)";
    let read = |row: &Row<'_>| {
        let run_id: String = row.get(2)?;
        Ok(fire::Target {
            no: row.get(0)?,
            run: row.get(1)?,
            run_id: RunId::new(&run_id),
            fired: row.get(3)?,
        })
    };
    let Some(tenant) = signal.tenant.as_deref() else {
        let mut statement = core.conn.prepare_cached(&format!("{COLUMNS} LIMIT ?4"))?;
        let rows = statement.query_map((shape, key, signal.now_ms, limit), read)?;
        return Ok(rows.collect::<rusqlite::Result<_>>()?);
    };
    let mut found = Vec::new();
    for tenant in [None, Some(tenant)] {
        let sql = format!("{COLUMNS} AND a.tenant IS ?4 LIMIT ?5");
        let mut statement = core.conn.prepare_cached(&sql)?;
        let room = limit - found.len();
        let rows = statement.query_map((shape, key, signal.now_ms, tenant, room), read)?;
        for row in rows {
            found.push(row?);
        }
    }
    Ok(found)
}

fn is_listened(core: &Core, kind: &str) -> Worked<bool> {
    let found: Option<i64> = core
        .conn
        .prepare_cached("SELECT 1 FROM listened WHERE kind = ?1")?
        .query_row([kind], |row| row.get(0))
        .optional()?;
    Ok(found.is_some())
}

pub(crate) fn listen(core: &Core, kind: &str, on: bool) -> Worked<()> {
    core.quiet.unlearn(kind);
    let sql = match on {
        true => "INSERT OR IGNORE INTO listened (kind) VALUES (?1)",
        false => "DELETE FROM listened WHERE kind = ?1",
    };
    core.conn.prepare_cached(sql)?.execute([kind])?;
    Ok(())
}

/// Removes a signal from the outbox. The next signals follow for an await that looks back on more.
pub(crate) fn remove_signal(core: &Core, no: u64, wakes: &mut Wakes) -> Worked<()> {
    // No signal has a number beyond the column's.
    let Ok(no) = i64::try_from(no) else {
        return Ok(());
    };
    let conn = &core.conn;
    let known: Option<(i64, Option<String>)> = conn
        .prepare_cached("SELECT emit, only FROM signals WHERE no = ?1")?
        .query_row([no], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    conn.prepare_cached("DELETE FROM signals WHERE no = ?1")?
        .execute([no])?;
    if let Some((emit, Some(only))) = known {
        wakes.signalled |= lookback::go_on(conn, &only, emit)?;
    }
    Ok(())
}
