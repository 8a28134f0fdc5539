//! What the writer thread owns: the one connection that writes, and what it remembers.

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
};

use riverrun_store::{Error, Result};
use riverrun_types::Millis;
use rusqlite::Connection;

use crate::{error::translate, names::Names, queue::Queues, stray::Stray};

/// Bits of a lease token that count within one life of the store; the rest counts the lives.
const TOKEN_BITS: u32 = 40;

pub(crate) struct Core {
    pub(crate) conn: Connection,
    pub(crate) names: Arc<Names>,
    pub(crate) queues: RefCell<Queues>,
    stray: Cell<Stray>,
    next_token: u64,
}

impl Core {
    /// Takes over a connection to a file of the current schema.
    pub(crate) fn new(conn: Connection) -> Result<Self> {
        let load = || -> rusqlite::Result<(Arc<Names>, Stray, Queues, u64)> {
            let opens = conn.query_row(
                "UPDATE meta SET value = value + 1 WHERE key = 'opens' RETURNING value",
                [],
                |row| row.get::<_, u64>(0),
            )?;
            Ok((
                Names::load(&conn)?,
                Stray::load(&conn)?,
                Queues::load(&conn)?,
                opens,
            ))
        };
        let (names, stray, queues, opens) = load().map_err(translate)?;
        Ok(Self {
            conn,
            names,
            queues: RefCell::new(queues),
            stray: Cell::new(stray),
            next_token: opens << TOKEN_BITS,
        })
    }

    /// A lease token that was never given before: not in this life of the store, nor in another,
    /// because the count of lives was stored before the first one was given.
    pub(crate) fn token(&mut self) -> u64 {
        self.next_token += 1;
        self.next_token
    }

    pub(crate) fn begin(&self) -> Result<()> {
        self.conn
            .prepare_cached("BEGIN IMMEDIATE")
            .and_then(|mut begin| begin.execute([]))
            .map_err(translate)?;
        Ok(())
    }

    /// Makes the open transaction durable.
    pub(crate) fn commit(&self) -> Result<()> {
        self.queues
            .borrow_mut()
            .store(&self.conn)
            .map_err(translate)?;
        self.conn
            .prepare_cached("COMMIT")
            .and_then(|mut commit| commit.execute([]))
            .map_err(translate)?;
        Ok(())
    }

    /// Forgets the open transaction and everything that was remembered because of it.
    pub(crate) fn abandon(&self) {
        if !self.conn.is_autocommit()
            && let Err(error) = self.conn.execute_batch("ROLLBACK")
        {
            tracing::warn!(%error, "could not roll back");
        }
        let reload = || -> rusqlite::Result<()> {
            self.stray.set(Stray::load(&self.conn)?);
            *self.queues.borrow_mut() = Queues::load(&self.conn)?;
            self.names.reload(&self.conn)
        };
        if let Err(error) = reload() {
            tracing::warn!(%error, "could not read again what is remembered");
        }
    }

    /// Notes when a new run was created, in its transaction.
    pub(crate) fn created(&self, ms: Millis) -> rusqlite::Result<()> {
        let mut stray = self.stray.get();
        stray.note(&self.conn, ms)?;
        self.stray.set(stray);
        Ok(())
    }

    /// Brings the log into the file and lets go of it.
    pub(crate) fn close(self) -> Result<()> {
        self.conn.flush_prepared_statement_cache();
        // What cannot be moved now stays in the log, where the next opener finds it.
        let moved = self
            .conn
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        if let Err(error) = moved {
            tracing::debug!(%error, "the last checkpoint was not made");
        }
        self.conn.close().map_err(|(_, error)| translate(error))
    }
}

/// The answer to work whose thread died under it.
pub(crate) fn lost() -> Error {
    Error::Unavailable("the writer failed; the log has the details".to_owned())
}
