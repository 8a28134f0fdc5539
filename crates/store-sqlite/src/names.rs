//! Repeated names as numbers. The table `names` is small and is cached in memory, shared by the
//! writer, which alone adds to it, and the readers.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use riverrun_store::Error;
use riverrun_types::Name;
use rusqlite::Connection;

use crate::error::corrupt;

/// The number of the missing name.
pub(crate) const NONE: i64 = 0;

#[derive(Default)]
pub(crate) struct Names {
    known: RwLock<Tables>,
}

#[derive(Default)]
struct Tables {
    numbers: HashMap<Name, i64>,
    texts: HashMap<i64, Name>,
}

impl Names {
    pub(crate) fn load(conn: &Connection) -> rusqlite::Result<Arc<Self>> {
        let names = Arc::new(Self::default());
        names.reload(conn)?;
        Ok(names)
    }

    /// Reads the table again: after a rollback, which may have removed names.
    pub(crate) fn reload(&self, conn: &Connection) -> rusqlite::Result<()> {
        let mut known = Tables::default();
        let mut statement = conn.prepare_cached("SELECT no, text FROM names")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let no = row.get(0)?;
            match row.get(1) {
                Ok(text) => known.add(no, text),
                // Only rows with this number cannot be read.
                Err(error) => tracing::error!(no, %error, "a name is damaged; it is left out"),
            }
        }
        *self.write() = known;
        Ok(())
    }

    /// The number of a name, assigned now if it is new. For the writer, in a transaction.
    pub(crate) fn number(&self, conn: &Connection, text: &Name) -> rusqlite::Result<i64> {
        if let Some(no) = self.find(text) {
            return Ok(no);
        }
        conn.prepare_cached("INSERT INTO names (text) VALUES (?1)")?
            .execute([&**text])?;
        let no = conn.last_insert_rowid();
        self.write().add(no, text.clone());
        Ok(no)
    }

    /// The number of a name that may be missing.
    pub(crate) fn number_of(
        &self,
        conn: &Connection,
        text: Option<&Name>,
    ) -> rusqlite::Result<i64> {
        text.map_or(Ok(NONE), |text| self.number(conn, text))
    }

    /// The number of a name, if it has one.
    pub(crate) fn find(&self, text: &str) -> Option<i64> {
        self.read().numbers.get(text).copied()
    }

    pub(crate) fn text(&self, no: i64) -> Result<Name, Error> {
        let known = self.read().texts.get(&no).cloned();
        known.ok_or_else(|| corrupt(format_args!("there is no name with the number {no}")))
    }

    pub(crate) fn text_of(&self, no: i64) -> Result<Option<Name>, Error> {
        if no == NONE {
            return Ok(None);
        }
        self.text(no).map(Some)
    }

    // A panic elsewhere leaves the maps consistent: each is changed by single inserts.
    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tables {
    fn add(&mut self, no: i64, text: Name) {
        self.numbers.insert(text.clone(), no);
        self.texts.insert(no, text);
    }
}
