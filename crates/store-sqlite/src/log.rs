//! The log of all events: numbers that are never given twice, and marks that find chunks with rare
//! kinds of events or events of a story.

use std::collections::BTreeSet;

use riverrun_store::{codec, topic};
use riverrun_types::{Draft, EventType, Millis};
use rusqlite::{Connection, Params};

use crate::{core::Core, error::Worked};

/// Whether nearly every run has such events. Those are not marked: reading the log is as fast.
pub(crate) fn is_common(kind: &EventType) -> bool {
    use EventType as T;
    matches!(
        kind,
        T::FlowStarted
            | T::FlowCompleted
            | T::Emit
            | T::StepStarted
            | T::StepCompleted
            | T::StepMemo
            | T::StepEntered
            | T::StepJoined
            | T::StepAwaitTime
            | T::StepAwaitEvent
            | T::StepAwaitBranches
            | T::StepAwaitRun
            | T::StepResumed
            | T::Progress
            | T::Partial
            | T::LogDebug
            | T::LogInfo
            | T::LogWarn
            | T::LogError
            | T::StateSet
            | T::StateDelete
            | T::StateBatch
    ) || kind.family() == "job"
}

/// The next number of the log, according to the file.
pub(crate) fn load(conn: &Connection) -> rusqlite::Result<u64> {
    conn.query_row(
        "SELECT max(iif(typeof(value) = 'integer' AND value < 1 << 52, value, 1), coalesce(
             (SELECT seq + count FROM chunks ORDER BY seq DESC LIMIT 1), 1))
         FROM meta WHERE key = 'log'",
        [],
        |row| row.get(0),
    )
}

/// The key of a mark.
#[derive(Default)]
pub(crate) struct Marks {
    kinds: BTreeSet<String>,
    correlations: BTreeSet<String>,
}

impl Marks {
    pub(crate) fn of(drafts: &[Draft]) -> Self {
        let mut marks = Self::default();
        for draft in drafts {
            if !is_common(&draft.kind) {
                marks.kinds.insert(draft.kind.as_str().to_owned());
            }
            marks.kinds.extend(topic(&draft.kind, draft.data.as_ref()));
            if let Some(id) = &draft.correlation_id {
                marks.correlations.insert(id.to_string());
            }
        }
        marks
    }

    pub(crate) fn are_none(&self) -> bool {
        self.kinds.is_empty() && self.correlations.is_empty()
    }

    pub(crate) fn put(&self, conn: &Connection, chunk: Chunk) -> rusqlite::Result<()> {
        self.each(
            conn,
            chunk,
            "INSERT OR IGNORE INTO kinds (kind, seq) VALUES (?1, ?2)",
            "INSERT OR IGNORE INTO stories (correlation, stream, first) VALUES (?1, ?2, ?3)",
        )
    }

    fn remove(&self, conn: &Connection, chunk: Chunk) -> rusqlite::Result<()> {
        self.each(
            conn,
            chunk,
            "DELETE FROM kinds WHERE kind = ?1 AND seq = ?2",
            "DELETE FROM stories WHERE correlation = ?1 AND stream = ?2 AND first = ?3",
        )
    }

    fn each(
        &self,
        conn: &Connection,
        chunk: Chunk,
        of_kind: &str,
        of_story: &str,
    ) -> rusqlite::Result<()> {
        for kind in &self.kinds {
            conn.prepare_cached(of_kind)?.execute((kind, chunk.seq))?;
        }
        for id in &self.correlations {
            conn.prepare_cached(of_story)?
                .execute((id, chunk.stream, chunk.first))?;
        }
        Ok(())
    }
}

/// The place of a chunk.
#[derive(Clone, Copy)]
pub(crate) struct Chunk {
    pub(crate) seq: u64,
    pub(crate) stream: i64,
    pub(crate) first: u64,
}

/// Removes the chunks for which a condition holds, and all references to them.
pub(crate) fn remove(core: &Core, condition: &str, values: impl Params + Copy) -> Worked<()> {
    let conn = &core.conn;
    let sql = format!(
        "SELECT seq, stream, first, base_ms, body FROM chunks WHERE marks > 0 AND {condition}"
    );
    for (chunk, marks) in marked(conn, &sql, values)? {
        match marks {
            Some(marks) => marks.remove(conn, chunk)?,
            None => forget_marks(conn, chunk)?,
        }
    }
    conn.prepare_cached(&format!("DELETE FROM chunks WHERE {condition}"))?
        .execute(values)?;
    // If the last ones were removed, their numbers are not given again.
    conn.prepare_cached("UPDATE meta SET value = ?1 WHERE key = 'log' AND value < ?1")?
        .execute([core.next_no()])?;
    Ok(())
}

/// Removes the marks of a damaged chunk, whose kinds are unknown. That scans every mark.
fn forget_marks(conn: &Connection, chunk: Chunk) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM kinds WHERE seq = ?1")?
        .execute([chunk.seq])?;
    conn.prepare_cached("DELETE FROM stories WHERE stream = ?1 AND first = ?2")?
        .execute((chunk.stream, chunk.first))?;
    Ok(())
}

/// Chunks and their marks; none for a chunk that is damaged.
fn marked(
    conn: &Connection,
    sql: &str,
    values: impl Params,
) -> Worked<Vec<(Chunk, Option<Marks>)>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let chunk = Chunk {
            seq: row.get(0)?,
            stream: row.get(1)?,
            first: row.get(2)?,
        };
        let base_ms: Millis = row.get(3)?;
        let body = row.get_ref(4)?.as_blob().ok();
        let drafts = body.and_then(|body| codec::decode(body, chunk.first, base_ms));
        found.push((chunk, drafts.map(|drafts| Marks::of(&drafts))));
    }
    Ok(found)
}

/// Marks the chunks that were written before marks existed, in order from a number on. A damaged
/// chunk is left to its reader.
pub(crate) fn mark_all(conn: &Connection) -> rusqlite::Result<()> {
    /// Chunks read at a time: rows that are read while others are changed may be read again.
    const BATCH: usize = 1_000;
    let mut after = 0;
    loop {
        let mut statement = conn.prepare_cached(
            "SELECT seq, stream, first, base_ms, body FROM chunks WHERE seq > ?1 ORDER BY seq LIMIT ?2",
        )?;
        let mut rows = statement.query((after, BATCH))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let chunk = Chunk {
                seq: row.get(0)?,
                stream: row.get(1)?,
                first: row.get(2)?,
            };
            let drafts = row
                .get_ref(4)?
                .as_blob()
                .ok()
                .and_then(|body| codec::decode(body, chunk.first, row.get(3).ok()?));
            found.push((chunk, Marks::of(&drafts.unwrap_or_default())));
        }
        drop(rows);
        let Some((last, _)) = found.last() else {
            return Ok(());
        };
        after = last.seq;
        for (chunk, marks) in found.iter().filter(|(_, marks)| !marks.are_none()) {
            marks.put(conn, *chunk)?;
            conn.prepare_cached("UPDATE chunks SET marks = 1 WHERE seq = ?1")?
                .execute([chunk.seq])?;
        }
    }
}
