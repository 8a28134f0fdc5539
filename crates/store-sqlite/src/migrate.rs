//! Migrates a file to the schema of this program. Migrations are numbered, append-only files;
//! `PRAGMA user_version` counts the applied ones.

use riverrun_store::{Error, Result};
use rusqlite::{Connection, TransactionBehavior};

use crate::{error::translate, log};

/// In order; the n-th brings a file to version n.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_runs_streams_jobs.sql"),
    include_str!("../migrations/0002_queues.sql"),
    include_str!("../migrations/0003_awaits.sql"),
    include_str!("../migrations/0004_job_lives.sql"),
    include_str!("../migrations/0005_triggers.sql"),
    include_str!("../migrations/0006_log.sql"),
    include_str!("../migrations/0007_once.sql"),
    include_str!("../migrations/0008_names_outlive_jobs.sql"),
    include_str!("../migrations/0009_outbox.sql"),
    include_str!("../migrations/0010_losses.sql"),
];

/// The version from which on chunks of events are marked when they are written.
const MARKED: u32 = 6;

/// The schema that this program writes.
pub(crate) const SCHEMA: u32 = MIGRATIONS.len() as u32;

/// Applies the missing migrations, all or none.
pub(crate) fn migrate(conn: &mut Connection) -> Result<()> {
    if version(conn)? == SCHEMA {
        return Ok(());
    }
    let transaction = conn
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(translate)?;
    let found = version(&transaction)?;
    if found > SCHEMA {
        return Err(Error::NewerSchema {
            found,
            known: SCHEMA,
        });
    }
    for sql in &MIGRATIONS[found as usize..] {
        transaction.execute_batch(sql).map_err(translate)?;
    }
    if (1..MARKED).contains(&found) {
        log::mark_all(&transaction).map_err(translate)?;
    }
    transaction
        .pragma_update(None, "user_version", SCHEMA)
        .map_err(translate)?;
    transaction.commit().map_err(translate)
}

fn version(conn: &Connection) -> Result<u32> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(translate)
}
