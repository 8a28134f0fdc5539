//! The state of the writer thread: the one connection that writes, and its caches.

use std::{
    cell::{Cell, RefCell},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use riverrun_store::{Error, Result};
use riverrun_types::Millis;
use rusqlite::Connection;

use crate::{
    apply::Recent,
    awaits::Quiet,
    creation_drift::CreationDrift,
    error::{Failure, Worked, translate},
    files::Files,
    log,
    log_marks::Acknowledged,
    names::Names,
    queue::Queues,
    reserve::Reserve,
};

/// Bits of a lease token that count within one life of the store; the rest counts the lives.
const TOKEN_BITS: u32 = 40;

/// More often than a file is ever opened.
const MAX_OPENS: u64 = 1 << 21;

/// How often the writer checks that its files still exist.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub(crate) struct Core {
    pub(crate) conn: Connection,
    pub(crate) names: Arc<Names>,
    pub(crate) queues: RefCell<Queues>,
    pub(crate) quiet: Quiet,
    pub(crate) recent: Recent,
    /// The lease that jobs of this transaction begin under, and when it ends.
    pub(crate) lease: Cell<Option<(u64, Millis)>>,
    creation_drift: Cell<CreationDrift>,
    next_token: u64,
    /// Of the log of all events. A transaction that fails leaves a gap.
    next_no: Cell<u64>,
    /// None for a store in memory, like the next.
    acknowledged: RefCell<Option<Acknowledged>>,
    files: Option<Arc<Files>>,
    reserve: Option<Reserve>,
    /// A checkpoint found the disk full: the log's content does not fit into the file.
    found_full: Arc<AtomicBool>,
    looked: Cell<Instant>,
}

impl Core {
    /// Takes over a connection to a file of the current schema.
    pub(crate) fn new(
        conn: Connection,
        acknowledged: Option<Acknowledged>,
        found_full: Arc<AtomicBool>,
    ) -> Result<Self> {
        let load = || -> rusqlite::Result<(Arc<Names>, CreationDrift, Queues, u64, u64)> {
            let opens = conn.query_row(
                // A damaged count continues at a number that was never used.
                "UPDATE meta SET value = iif(typeof(value) = 'integer' AND value BETWEEN 0 AND ?1,
                         value + 1, ?1 + 1)
                 WHERE key = 'opens' RETURNING value",
                [MAX_OPENS],
                |row| row.get::<_, u64>(0),
            )?;
            Ok((
                Names::load(&conn)?,
                CreationDrift::load(&conn)?,
                Queues::load(&conn)?,
                opens,
                log::load(&conn)?,
            ))
        };
        let (names, creation_drift, queues, opens, next_no) = load().map_err(translate)?;
        Ok(Self {
            conn,
            names,
            queues: RefCell::new(queues),
            quiet: Quiet::default(),
            recent: Recent::default(),
            lease: Cell::new(None),
            creation_drift: Cell::new(creation_drift),
            next_token: opens << TOKEN_BITS,
            next_no: Cell::new(next_no),
            acknowledged: RefCell::new(acknowledged),
            files: None,
            reserve: None,
            found_full,
            looked: Cell::new(Instant::now()),
        })
    }

    /// The files whose loss the writer detects, and the reserve that it keeps.
    pub(crate) fn watch(&mut self, files: Arc<Files>, reserve: Reserve) {
        self.files = Some(files);
        self.reserve = Some(reserve);
    }

    /// The disk is full: only commits that delete are accepted.
    pub(crate) fn is_full(&self) -> bool {
        self.reserve.as_ref().is_some_and(Reserve::is_full)
    }

    /// Rejects commits that add data while the disk is full.
    pub(crate) fn judge_room(&self) -> Worked<()> {
        match &self.reserve {
            Some(reserve) if reserve.is_full() => Err(Failure::Refused(reserve.refusal())),
            _ => Ok(()),
        }
    }

    /// A transaction found the disk full: the reserve is released, and so is the log.
    pub(crate) fn make_room(&self) {
        if let Some(reserve) = &self.reserve {
            reserve.release();
            self.shorten_log();
        }
    }

    /// Checkpoints the log and truncates it. Pages that readers still need stay.
    fn shorten_log(&self) {
        let cut = self
            .conn
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        if let Err(error) = cut {
            tracing::debug!(%error, "the log was not truncated");
        }
    }

    /// Whether the files still exist, by a check of the folder.
    pub(crate) fn look(&self) -> Result<()> {
        self.looked.set(Instant::now());
        self.files.as_ref().map_or(Ok(()), |files| files.look())
    }

    /// The same, checked only now and then.
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

    /// Takes numbers for this many events; returns the first of them.
    pub(crate) fn take_numbers(&self, count: u64) -> u64 {
        let first = self.next_no.get();
        self.next_no.set(first + count);
        first
    }

    /// Begins a transaction, unless its writes would be lost.
    pub(crate) fn begin(&self) -> Result<()> {
        self.glance()?;
        if let Some(reserve) = &self.reserve {
            reserve.look(&self.conn);
        }
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
        // The commit that finds a checkpoint impossible is durable, and the last one that may add
        // data.
        if self.found_full.swap(false, Ordering::AcqRel) {
            self.make_room();
        } else if self.reserve.as_ref().is_some_and(Reserve::is_tight) {
            self.shorten_log();
        }
        Ok(())
    }

    /// Drops the open transaction and every cache that depends on it.
    pub(crate) fn abandon(&self) {
        if !self.conn.is_autocommit()
            && let Err(error) = self.conn.execute_batch("ROLLBACK")
        {
            tracing::warn!(%error, "could not roll back");
        }
        self.quiet.forget();
        self.recent.forget();
        let reload = || -> rusqlite::Result<()> {
            self.creation_drift.set(CreationDrift::load(&self.conn)?);
            if let Some(acknowledged) = &*self.acknowledged.borrow() {
                acknowledged.load(&self.conn)?;
            }
            *self.queues.borrow_mut() = Queues::load(&self.conn)?;
            self.names.reload(&self.conn)
        };
        if let Err(error) = reload() {
            tracing::warn!(%error, "could not reload the caches");
        }
    }

    /// Records when a new run was created, in its transaction.
    pub(crate) fn created(&self, ms: Millis) -> rusqlite::Result<()> {
        let mut creation_drift = self.creation_drift.get();
        creation_drift.note(&self.conn, ms)?;
        self.creation_drift.set(creation_drift);
        Ok(())
    }

    /// Checkpoints the log and closes it.
    pub(crate) fn close(self) -> Result<()> {
        if let Err(gone) = self.look() {
            // SQLite would delete the log by its name, which may be another process's by now.
            std::mem::forget(self.conn);
            return Err(gone);
        }
        if let Some(acknowledged) = &mut *self.acknowledged.borrow_mut()
            && let Err(error) = acknowledged.close(&self.conn)
        {
            tracing::warn!(%error, "the mark of acknowledged data was not closed");
        }
        self.conn.flush_prepared_statement_cache();
        // Pages that cannot be moved now stay in the log, where the next opener finds them.
        let moved = self
            .conn
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        if let Err(error) = moved {
            tracing::debug!(%error, "the last checkpoint was not made");
        }
        self.conn.close().map_err(|(_, error)| translate(error))
    }
}

/// The answer to work whose thread panicked.
pub(crate) fn lost() -> Error {
    Error::Unavailable("the writer failed; the log has the details".to_owned())
}
