//! Checks a whole folder, or a backup of one: SQLite's own structure, every checksum, every stream,
//! every reference, and the mark of acknowledged data. Changes nothing.

mod await_keys;
mod marks;
mod payloads;
mod references;
mod rows;
mod rules;
mod streams;

use std::path::Path;

use riverrun_store::{Error, Result};
use riverrun_types::{Draft, Millis, Name, RunId, RunStatus};
use rusqlite::Connection;

use crate::{
    acknowledged, connection,
    error::{corrupt, translate},
    lock,
    names::Names,
};

/// Findings that a report keeps; further ones are counted.
const MOST: usize = 1_000;

/// Observes the check of a folder.
pub trait Inspector {
    /// `done` of about `total` rows of a stage were read.
    fn progress(&mut self, stage: &'static str, done: u64, total: u64);

    /// The next events of a run's stream, in order from its first.
    fn events(&mut self, events: Vec<Draft>);

    /// The run's stream is over. Returns the problem of its row, if the events do not lead to it.
    fn run(&mut self, row: &RunRow) -> Option<String>;
}

/// The part of a run's row that its events determine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    pub id: RunId,
    pub version: Name,
    pub status: RunStatus,
    pub wake_ms: Option<Millis>,
    pub ended_ms: Option<Millis>,
}

/// A problem.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// The place of the problem: a table, `structure` or `acknowledged`.
    pub place: String,
    /// Which row, if that is known.
    pub id: Option<String>,
    pub problem: String,
}

/// The report of a check.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub findings: Vec<Finding>,
    /// Findings beyond those that are listed.
    pub more: u64,
    /// Payloads and chunks of events whose checksums were compared.
    pub checked: u64,
    /// Payloads and chunks that an older version wrote without a checksum.
    pub unchecked: u64,
    pub runs: u64,
    pub events: u64,
    /// A server has the folder: its acknowledged position moves on, and was not compared.
    pub in_use: bool,
    /// An older version wrote it: only its structure was checked. A server migrates it.
    pub is_older: bool,
}

impl Report {
    pub fn is_well(&self) -> bool {
        self.findings.is_empty()
    }

    fn add(&mut self, place: &str, id: Option<String>, problem: impl Into<String>) {
        if self.findings.len() >= MOST {
            self.more += 1;
            return;
        }
        self.findings.push(Finding {
            place: place.to_owned(),
            id,
            problem: problem.into(),
        });
    }
}

/// Checks the folder of a store, with or without a running server.
pub fn verify(folder: &Path, inspector: &mut dyn Inspector) -> Result<Report> {
    let mut report = Report::default();
    let file = folder.join(connection::FILE);
    let lock = match lock::lock(folder) {
        Ok(lock) => Some(lock),
        Err(Error::Locked(_)) => None,
        Err(error) => return Err(error),
    };
    report.in_use = lock.is_none();
    if lock.is_some()
        && let Some(loss) = acknowledged::check(folder)?
    {
        report.add("acknowledged", None, loss.0);
    }
    match std::fs::metadata(&file) {
        Ok(found) if found.len() > 0 => whole(&file, inspector, &mut report)?,
        Ok(_) | Err(_) if report.is_well() => {
            let text = format!("there is no {} in {}", connection::FILE, folder.display());
            return Err(Error::Unavailable(text));
        }
        _ => {}
    }
    Ok(report)
}

/// Checks a backup.
pub fn verify_file(file: &Path, inspector: &mut dyn Inspector) -> Result<Report> {
    let mut report = Report::default();
    whole(file, inspector, &mut report)?;
    Ok(report)
}

fn whole(file: &Path, inspector: &mut dyn Inspector, report: &mut Report) -> Result<()> {
    let conn = connection::reader(file)?;
    // One moment for the whole check.
    let moment = conn.unchecked_transaction().map_err(translate)?;
    let mut check = Check {
        conn: &moment,
        inspector,
        report,
    };
    let schema = check.schema();
    let Some(schema) = check.noted("structure", schema)? else {
        return Ok(());
    };
    let structure = check.structure();
    check.noted("structure", structure)?;
    if schema < crate::migrate::SCHEMA {
        check.report.is_older = true;
        return Ok(());
    }
    payloads::check(&mut check)?;
    let names = Names::load(&moment).map_err(translate);
    if let Some(names) = check.noted("names", names)? {
        streams::check(&mut check, &names)?;
    }
    marks::check(&mut check)?;
    await_keys::check(&mut check)?;
    rules::check(&mut check, "rows", rows::RULES)?;
    rules::check(&mut check, "references", references::RULES)
}

/// A running check.
struct Check<'a> {
    conn: &'a Connection,
    inspector: &'a mut dyn Inspector,
    report: &'a mut Report,
}

impl Check<'_> {
    /// Reports damage that keeps a part from being read to its end; the next part is still checked.
    fn noted<T>(&mut self, place: &str, done: Result<T>) -> Result<Option<T>> {
        match done {
            Ok(done) => Ok(Some(done)),
            Err(Error::Corrupt(text)) => {
                self.report.add(place, None, text);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn schema(&self) -> Result<u32> {
        let found: u32 = self
            .conn
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(translate)?;
        match found {
            0 => Err(corrupt("it is no database of riverrun")),
            found if found > crate::migrate::SCHEMA => Err(Error::NewerSchema {
                found,
                known: crate::migrate::SCHEMA,
            }),
            found => Ok(found),
        }
    }

    fn structure(&mut self) -> Result<()> {
        self.inspector.progress("structure", 0, 1);
        let sql = format!("PRAGMA integrity_check({MOST})");
        let mut statement = self.conn.prepare(&sql).map_err(translate)?;
        let mut rows = statement.query([]).map_err(translate)?;
        while let Some(row) = rows.next().map_err(translate)? {
            let said: String = row.get(0).map_err(translate)?;
            if said != "ok" {
                self.report.add("structure", None, said);
            }
        }
        self.inspector.progress("structure", 1, 1);
        Ok(())
    }

    fn count(&self, table: &str) -> u64 {
        let sql = format!("SELECT count(*) FROM {table}");
        // It serves the progress alone.
        let counted = self.conn.query_row(&sql, [], |row| row.get(0));
        counted.unwrap_or_default()
    }
}
