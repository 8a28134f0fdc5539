//! What the writer thread owns: the one connection that writes, and what it remembers.

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
    time::{Duration, Instant},
};

use riverrun_store::{Error, Result};
use riverrun_types::Millis;
use rusqlite::Connection;

use crate::{
    apply::Recent, awaits::Quiet, error::translate, files::Files, log, log_marks::Acknowledged,
    names::Names, queue::Queues, stray::Stray,
};

/// Bits of a lease token that count within one life of the store; the rest counts the lives.
const TOKEN_BITS: u32 = 40;

/// How often the writer looks whether its files are still there.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(crate) struct Core {
    pub(crate) conn: Connection,
    pub(crate) names: Arc<Names>,
    pub(crate) queues: RefCell<Queues>,
    pub(crate) quiet: Quiet,
    pub(crate) recent: Recent,
    /// The lease that jobs of this transaction begin under, and when it ends.
    pub(crate) lease: Cell<Option<(u64, Millis)>>,
    stray: Cell<Stray>,
    next_token: u64,
    /// Of the log of all events. A transaction that fails leaves a gap.
    next_no: Cell<u64>,
    /// None for a store in memory, like the next.
    acknowledged: RefCell<Option<Acknowledged>>,
    files: Option<Arc<Files>>,
    looked: Cell<Instant>,
}

impl Core {
    /// Takes over a connection to a file of the current schema.
    pub(crate) fn new(conn: Connection, acknowledged: Option<Acknowledged>) -> Result<Self> {
        let load = || -> rusqlite::Result<(Arc<Names>, Stray, Queues, u64, u64)> {
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
                log::load(&conn)?,
            ))
        };
        let (names, stray, queues, opens, next_no) = load().map_err(translate)?;
        Ok(Self {
            conn,
            names,
            queues: RefCell::new(queues),
            quiet: Quiet::default(),
            recent: Recent::default(),
            lease: Cell::new(None),
            stray: Cell::new(stray),
            next_token: opens << TOKEN_BITS,
            next_no: Cell::new(next_no),
            acknowledged: RefCell::new(acknowledged),
            files: None,
            looked: Cell::new(Instant::now()),
        })
    }

    /// The files whose loss the writer is to notice.
    pub(crate) fn watch(&mut self, files: Arc<Files>) {
        self.files = Some(files);
    }

    /// Whether the files are still there, as a look at the folder says.
    pub(crate) fn look(&self) -> Result<()> {
        self.looked.set(Instant::now());
        self.files.as_ref().map_or(Ok(()), |files| files.look())
    }

    /// The same, with a look only now and then.
    fn glance(&self) -> Result<()> {
        match &self.files {
            Some(files) if self.looked.get().elapsed() < LOOK_EVERY => files.known(),
            _ => self.look(),
        }
    }

    /// A lease token that was never given before: not in this life of the store, nor in another,
    /// because the count of lives was stored before the first one was given.
    pub(crate) fn token(&mut self) -> u64 {
        self.next_token += 1;
        self.next_token
    }

    /// The number that the next event of the log will have.
    pub(crate) fn next_no(&self) -> u64 {
        self.next_no.get()
    }

    /// Takes numbers for so many events; the first of them.
    pub(crate) fn take_numbers(&self, count: u64) -> u64 {
        let first = self.next_no.get();
        self.next_no.set(first + count);
        first
    }

    /// Begins a transaction, unless what it would write is lost.
    pub(crate) fn begin(&self) -> Result<()> {
        self.glance()?;
        self.lease.set(None);
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
        if let Some(acknowledged) = &mut *self.acknowledged.borrow_mut() {
            acknowledged.beat(&self.conn).map_err(translate)?;
        }
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
        self.quiet.forget();
        self.recent.forget();
        let reload = || -> rusqlite::Result<()> {
            self.stray.set(Stray::load(&self.conn)?);
            if let Some(acknowledged) = &*self.acknowledged.borrow() {
                acknowledged.load(&self.conn)?;
            }
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
        if let Err(gone) = self.look() {
            // SQLite would delete the log by its name, and that may be somebody else's by now.
            std::mem::forget(self.conn);
            return Err(gone);
        }
        if let Some(acknowledged) = &mut *self.acknowledged.borrow_mut()
            && let Err(error) = acknowledged.close(&self.conn)
        {
            tracing::warn!(%error, "the mark of what is acknowledged was not closed");
        }
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
