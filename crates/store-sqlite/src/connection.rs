//! Connections and their settings. Measured: see the table in ARCHITECTURE.md.

use std::{path::Path, time::Duration};

use riverrun_store::Result;
use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::{error::translate, lock};

/// The name of the file in the data folder.
pub(crate) const FILE: &str = "riverrun.db";

/// Every file that is open as long as the store is. Whoever loses one loses what it writes, or is
/// not alone any more.
pub(crate) const FILES: [&str; 4] = [FILE, "riverrun.db-wal", "riverrun.db-shm", lock::FILE];

/// How long to wait for somebody outside, such as a backup tool, who holds the file.
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
        conn.pragma_update(None, "page_size", 4096)?;
        conn.pragma_update(None, "journal_mode", "WAL")?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        // Rare checkpoints: p99 of a commit is 4 ms instead of 12.
        conn.pragma_update(None, "wal_autocheckpoint", 16_000)?;
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
    conn.pragma_update(None, "temp_store", "MEMORY")
}
