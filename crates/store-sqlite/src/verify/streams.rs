//! Every stream: its chunks unpack, follow each other, and are as many events as its owner says; and
//! those of a run lead to the run's status.

use riverrun_store::{Result, codec};
use riverrun_types::{Draft, Millis, RunId, RunStatus};

use super::Check;
use crate::{columns, error::translate};

/// Whose stream it is, in the order of the chunks.
struct Owner {
    stream: i64,
    name: String,
    len: u64,
    /// None for streams that are no run's.
    status: Option<RunStatus>,
}

struct Chunk {
    stream: i64,
    first: u64,
    count: u64,
    seq: i64,
    /// None if it is damaged.
    drafts: Option<Vec<Draft>>,
    is_summed: bool,
}

pub(super) fn check(check: &mut Check<'_>) -> Result<()> {
    let done = walk(check);
    check.noted("chunks", done).map(drop)
}

/// Owners and chunks in the same order, side by side.
fn walk(check: &mut Check<'_>) -> Result<()> {
    let conn = check.conn;
    let total = check.count("chunks");
    let mut owners = conn
        .prepare(
            "SELECT -no, id, len, NULL FROM streams
             UNION ALL SELECT no, id, len, status FROM runs ORDER BY 1",
        )
        .map_err(translate)?;
    let mut owners = owners.query([]).map_err(translate)?;
    let mut chunks = conn
        .prepare(
            "SELECT stream, first, count, base_ms, body, seq FROM chunks ORDER BY stream, first",
        )
        .map_err(translate)?;
    let mut chunks = chunks.query([]).map_err(translate)?;
    let mut next = || -> Result<Option<Chunk>> {
        chunks
            .next()
            .map_err(translate)?
            .map(|row| chunk(row).map_err(translate))
            .transpose()
    };
    let mut pending = next()?;
    let mut done = 0;
    while let Some(row) = owners.next().map_err(translate)? {
        let owner = owner(row)?;
        let mut at = 0;
        while let Some(chunk) = pending.take_if(|chunk| chunk.stream <= owner.stream) {
            if chunk.stream < owner.stream {
                unowned(check, &chunk);
            } else {
                at = take(check, &owner, at, chunk);
            }
            pending = next()?;
            done += 1;
            if done % 1_000 == 0 {
                check.inspector.progress("events", done, total);
            }
        }
        end(check, &owner, at);
    }
    while let Some(chunk) = pending {
        unowned(check, &chunk);
        pending = next()?;
    }
    check.inspector.progress("events", total, total);
    Ok(())
}

fn owner(row: &rusqlite::Row<'_>) -> Result<Owner> {
    let read =
        || -> rusqlite::Result<_> { Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)) };
    let (stream, name, len, status): (i64, String, u64, Option<i64>) = read().map_err(translate)?;
    Ok(Owner {
        stream,
        name,
        len,
        status: status.map(columns::status).transpose()?,
    })
}

fn chunk(row: &rusqlite::Row<'_>) -> rusqlite::Result<Chunk> {
    let (first, base_ms): (u64, Millis) = (row.get(1)?, row.get(3)?);
    let body = row.get_ref(4)?.as_blob().unwrap_or_default();
    Ok(Chunk {
        stream: row.get(0)?,
        first,
        count: row.get(2)?,
        seq: row.get(5)?,
        drafts: codec::decode(body, first, base_ms),
        is_summed: codec::has_checksum(body),
    })
}

fn unowned(check: &mut Check<'_>, chunk: &Chunk) {
    let problem = format!("chunk {} of events has no stream", chunk.seq);
    check.report.add("chunks", None, problem);
}

/// Takes the next chunk of a stream; the position behind it.
fn take(check: &mut Check<'_>, owner: &Owner, at: u64, chunk: Chunk) -> u64 {
    let report = &mut *check.report;
    match chunk.is_summed {
        true => report.checked += 1,
        false => report.unchecked += 1,
    }
    report.events += chunk.count;
    // The beginnings of streams that are no run's may have been trimmed.
    let is_beginning = at == 0 && owner.status.is_none();
    if chunk.first != at && !is_beginning {
        let problem = format!("events {at} to {} are missing", chunk.first);
        report.add("chunks", Some(owner.name.clone()), problem);
    }
    match chunk.drafts {
        Some(drafts) if drafts.len() as u64 == chunk.count => {
            if owner.status.is_some() {
                check.inspector.events(drafts);
            }
        }
        _ => {
            let problem = format!(
                "the events from position {} on do not match their checksum",
                chunk.first
            );
            report.add("chunks", Some(owner.name.clone()), problem);
        }
    }
    chunk.first + chunk.count
}

fn end(check: &mut Check<'_>, owner: &Owner, at: u64) {
    let known = check.report.findings.len();
    if at != owner.len {
        let problem = format!("the stream has {at} events, and its row says {}", owner.len);
        check
            .report
            .add("chunks", Some(owner.name.clone()), problem);
    }
    let Some(status) = owner.status else {
        return;
    };
    check.report.runs += 1;
    let wrong = check.inspector.run(&RunId::new(&owner.name), status);
    // What is missing is said; that it leads elsewhere follows.
    let is_whole = check.report.findings.len() == known
        && check
            .report
            .findings
            .last()
            .is_none_or(|last| last.id.as_ref() != Some(&owner.name));
    if let Some(problem) = wrong.filter(|_| is_whole) {
        check.report.add("runs", Some(owner.name.clone()), problem);
    }
}
