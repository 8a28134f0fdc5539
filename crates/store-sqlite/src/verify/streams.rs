//! Every stream: its chunks unpack and follow each other, their number of events and their times
//! match its owner's row, and a run's events lead to its row.

use riverrun_store::{Error, Result, codec};
use riverrun_types::{Draft, Millis, RunId};

use super::{Check, RunRow};
use crate::{columns, error::translate, names::Names};

/// The owner of the stream, in the order of the chunks.
struct Owner {
    stream: i64,
    name: String,
    len: u64,
    created_ms: Millis,
    last_ms: Millis,
    /// None for streams other than runs'.
    run: Option<RunRow>,
    /// Why the row cannot be read.
    problem: Option<String>,
}

/// The part of a stream that was read so far.
#[derive(Default)]
struct Seen {
    len: u64,
    /// Of its first event, if that is still kept.
    first_ms: Option<Millis>,
    /// Of its last event, unless that is damaged.
    last_ms: Option<Millis>,
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

pub(super) fn check(check: &mut Check<'_>, names: &Names) -> Result<()> {
    let done = walk(check, names);
    check.noted("chunks", done).map(drop)
}

/// Owners and chunks in the same order, side by side.
fn walk(check: &mut Check<'_>, names: &Names) -> Result<()> {
    let conn = check.conn;
    let total = check.count("chunks");
    let mut owners = conn
        .prepare(
            "SELECT -no, id, len, created_ms, last_ms, NULL, NULL, NULL, NULL FROM streams
             UNION ALL SELECT no, id, len, created_ms, last_ms, status, version, wake_ms, ended_ms
                 FROM runs ORDER BY 1",
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
        let owner = owner(row, names)?;
        let mut seen = Seen::default();
        while let Some(chunk) = pending.take_if(|chunk| chunk.stream <= owner.stream) {
            if chunk.stream < owner.stream {
                unowned(check, &chunk);
            } else {
                take(check, &owner, &mut seen, chunk);
            }
            pending = next()?;
            done += 1;
            if done % 1_000 == 0 {
                check.inspector.progress("events", done, total);
            }
        }
        end(check, &owner, &seen);
    }
    while let Some(chunk) = pending {
        unowned(check, &chunk);
        pending = next()?;
    }
    check.inspector.progress("events", total, total);
    Ok(())
}

fn owner(row: &rusqlite::Row<'_>, names: &Names) -> Result<Owner> {
    let mut owner = Owner {
        stream: row.get(0).map_err(translate)?,
        name: row.get(1).unwrap_or_default(),
        len: 0,
        created_ms: 0,
        last_ms: 0,
        run: None,
        problem: None,
    };
    match fill(&mut owner, row, names) {
        Err(Error::Corrupt(problem)) => owner.problem = Some(problem),
        filled => filled?,
    }
    Ok(owner)
}

fn fill(owner: &mut Owner, row: &rusqlite::Row<'_>, names: &Names) -> Result<()> {
    let mut read = || -> rusqlite::Result<_> {
        owner.name = row.get(1)?;
        owner.len = row.get(2)?;
        owner.created_ms = row.get(3)?;
        owner.last_ms = row.get(4)?;
        Ok((row.get(5)?, row.get(6)?, row.get(7)?, row.get(8)?))
    };
    let (status, version, wake_ms, ended_ms) = read().map_err(translate)?;
    if let (Some(status), Some(version)) = (status, version) {
        owner.run = Some(RunRow {
            id: RunId::new(&owner.name),
            // A stream without a name is reported with the references.
            version: names.text(version).unwrap_or_default(),
            status: columns::status(status)?,
            wake_ms,
            ended_ms,
        });
    }
    Ok(())
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

/// Takes the next chunk of a stream.
fn take(check: &mut Check<'_>, owner: &Owner, seen: &mut Seen, chunk: Chunk) {
    let report = &mut *check.report;
    match chunk.is_summed {
        true => report.checked += 1,
        false => report.unchecked += 1,
    }
    report.events += chunk.count;
    // The beginnings of streams other than runs' may have been trimmed.
    let is_beginning = seen.len == 0 && owner.run.is_none();
    if chunk.first != seen.len && !is_beginning {
        let problem = format!("events {} to {} are missing", seen.len, chunk.first);
        report.add("chunks", Some(owner.name.clone()), problem);
    }
    seen.len = chunk.first + chunk.count;
    match chunk.drafts {
        Some(drafts) if drafts.len() as u64 == chunk.count => {
            if chunk.first == 0 {
                seen.first_ms = drafts.first().map(|draft| draft.ms);
            }
            seen.last_ms = drafts.last().map(|draft| draft.ms);
            if owner.run.is_some() {
                check.inspector.events(drafts);
            }
        }
        _ => {
            seen.last_ms = None;
            let problem = format!(
                "the events from position {} on do not match their checksum",
                chunk.first
            );
            report.add("chunks", Some(owner.name.clone()), problem);
        }
    }
}

fn end(check: &mut Check<'_>, owner: &Owner, seen: &Seen) {
    if let Some(problem) = &owner.problem {
        let place = if owner.stream > 0 { "runs" } else { "streams" };
        check
            .report
            .add(place, Some(owner.name.clone()), problem.clone());
        return;
    }
    let known = check.report.findings.len();
    let place = if owner.run.is_some() {
        "runs"
    } else {
        "streams"
    };
    let mut add = |place: &str, problem: String| {
        check.report.add(place, Some(owner.name.clone()), problem);
    };
    if seen.len != owner.len {
        let problem = format!(
            "the stream has {} events, and its row says {}",
            seen.len, owner.len
        );
        add("chunks", problem);
    } else if seen.last_ms.is_some_and(|ms| ms != owner.last_ms) {
        add(place, "its last event is of another time".to_owned());
    }
    if owner.run.is_none() && seen.first_ms.is_some_and(|ms| ms != owner.created_ms) {
        add(place, "its first event is of another time".to_owned());
    }
    let Some(row) = &owner.run else {
        return;
    };
    check.report.runs += 1;
    let wrong = check.inspector.run(row);
    // Missing events are reported; that the rest leads elsewhere follows.
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
