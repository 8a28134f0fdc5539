//! Connections and their settings.

use std::{path::Path, time::Duration};

use riverrun_store::Result;
use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::{error::translate, lock};

/// The name of the file in the data folder.
pub(crate) const FILE: &str = "riverrun.db";

/// SQLite's log beside it.
pub(crate) const LOG: &str = "riverrun.db-wal";

/// Every file that is open as long as the store is. If one is lost, so are the writes to it, or the
/// store has lost its exclusive lock.
pub(crate) const FILES: [&str; 4] = [FILE, LOG, "riverrun.db-shm", lock::FILE];

pub(crate) const PAGE_BYTES: u64 = 4_096;

/// How long to wait for another process, such as a backup tool, that holds the file.
const BUSY: Duration = Duration::from_secs(5);

/// Statements kept prepared per connection: more than there are different ones.
const STATEMENTS: usize = 128;

/// The one connection that writes. `None` is a store in memory.
pub(crate) fn writer(path: Option<&Path>) -> Result<Connection> {
    let open = || -> rusqlite::Result<Connection> {
        let conn = match path {
            Some(path) => Connection::open(path)?,
            None => Connection::open_in_memory()?,
        };
        common(&conn)?;
        conn.pragma_update(None, "page_size", PAGE_BYTES)?;
        conn.pragma_update(None, "journal_mode", "WAL")?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.pragma_update(None, "cache_size", -65_536)?;
        Ok(conn)
    };
    open().map_err(translate)
}

/// A connection that only reads, beside the writer.
pub(crate) fn reader(path: &Path) -> Result<Connection> {
    let open = || -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(path, flags)?;
        common(&conn)?;
        conn.pragma_update(None, "cache_size", -4_096)?;
        Ok(conn)
    };
    open().map_err(translate)
}

fn common(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(BUSY)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    // Plans do not depend on the values that are bound. Otherwise a join with a table that has
    // partial indexes is planned anew at every execution, which costs ten times the look-up.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Damaged pages are detected when they are read, not when a cell points to a wrong place.
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "temp_store", "MEMORY")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plans are made without the bound values, so the statement must spell out the condition of a
    /// partial index.
    #[test]
    fn statements_find_their_partial_indexes() {
        let mut conn = writer(None).unwrap();
        crate::migrate::migrate(&mut conn).unwrap();
        let check = |sql: &str, index: &str| {
            let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let nulls = vec![rusqlite::types::Null; statement.parameter_count()];
            let values = rusqlite::params_from_iter(nulls);
            let rows = statement.query_map(values, |row| row.get(3)).unwrap();
            let plan: Vec<String> = rows.collect::<rusqlite::Result<_>>().unwrap();
            let plan = plan.join("; ");
            assert!(plan.contains(index), "{sql}: {plan}");
        };
        check(
            "SELECT id FROM runs WHERE idem = ?1 AND flow = ?2 AND tenant = ?3",
            "runs_idem (idem=? AND flow=? AND tenant=?)",
        );
        check(
            "SELECT no FROM runs r WHERE r.parent = ?1 ORDER BY r.no DESC",
            "runs_parent (parent=?)",
        );
        check(
            "SELECT id FROM work WHERE state = 2 AND lease = ?1 AND cancel = 1",
            "work_active (lease=?)",
        );
        check(
            "SELECT no FROM work WHERE queue = ?1 AND lane = ?2 AND state = 0 ORDER BY rank, no",
            "work_waiting (queue=? AND lane=?)",
        );
        check(
            "SELECT 1 FROM work
             WHERE queue = ?1 AND lane = ?2 AND state = 0 AND rank = ?3 AND no < ?4",
            "work_waiting (queue=? AND lane=? AND rank=? AND no<?)",
        );
        check(
            "SELECT no FROM shapes WHERE kind = ?1 AND class < 2 AND open > 0",
            "(kind=? AND class<?)",
        );
        check(
            "SELECT no FROM awaits a INDEXED BY awaits_open
             WHERE a.shape = ?1 AND a.key = ?2 AND a.state = 0 AND a.tenant IS ?3",
            "awaits_open (shape=? AND key=? AND tenant=?)",
        );
        check(
            "SELECT no FROM awaits a WHERE a.shape = ?1 AND a.state = ?2 ORDER BY a.no DESC",
            "awaits_shape (shape=? AND state=?)",
        );
        check(
            "SELECT no FROM awaits a WHERE a.state = 2 AND a.state > 0 ORDER BY a.no DESC",
            "awaits_done (state=?)",
        );
        check(
            "SELECT no FROM signals g WHERE g.kind = ?1 AND g.no > ?2 ORDER BY g.no LIMIT ?3",
            "signals_kind (kind=? AND rowid>?)",
        );
        check(
            "SELECT 1 FROM signals WHERE kind = ?1 AND over > 0",
            "signals_over (kind=?)",
        );
        check(
            "SELECT 1 FROM signals WHERE only = ?1",
            "signals_only (only=?)",
        );
        check(
            "SELECT seq FROM emits WHERE ms <= ?1
                 AND NOT EXISTS (SELECT 1 FROM signals WHERE emit = seq) ORDER BY ms LIMIT ?2",
            "emits_ms (ms<?)",
        );
        check(
            "SELECT seq FROM kinds WHERE kind = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3",
            "PRIMARY KEY (kind=? AND seq>?)",
        );
        check(
            "SELECT first FROM stories t WHERE t.correlation = ?1 ORDER BY t.stream, t.first",
            "PRIMARY KEY (correlation=?)",
        );
        check(
            "SELECT id FROM work WHERE correlation = ?1 ORDER BY no LIMIT ?2",
            "work_story (correlation=?)",
        );
        check(
            "SELECT r.id FROM runs r WHERE r.correlation = ?1",
            "runs_story (correlation=?)",
        );
    }
}
