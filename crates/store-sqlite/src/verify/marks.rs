//! The marks that find chunks: each is of an event that its chunk holds.

use riverrun_store::{Result, codec, topic};
use riverrun_types::{Draft, Millis};
use rusqlite::Row;

use super::Check;
use crate::error::translate;

/// A table of marks, and the chunk of each, one chunk's marks after each other.
struct Table {
    name: &'static str,
    sql: &'static str,
    holds: fn(&Draft, &str) -> bool,
}

const TABLES: &[Table] = &[
    Table {
        name: "kinds",
        sql: "SELECT m.kind, c.seq, c.marks, c.first, c.base_ms, c.body
              FROM kinds m JOIN chunks c ON c.seq = m.seq ORDER BY c.seq",
        holds: |draft, kind| {
            draft.kind.as_str() == kind
                || topic(&draft.kind, draft.data.as_ref()).is_some_and(|topic| topic == kind)
        },
    },
    Table {
        name: "stories",
        sql: "SELECT m.correlation, c.seq, c.marks, c.first, c.base_ms, c.body
              FROM stories m JOIN chunks c ON c.stream = m.stream AND c.first = m.first
              ORDER BY c.seq",
        holds: |draft, id| draft.correlation_id.as_deref() == Some(id),
    },
];

pub(super) fn check(check: &mut Check<'_>) -> Result<()> {
    for table in TABLES {
        let done = of(check, table);
        check.noted(table.name, done)?;
    }
    Ok(())
}

fn of(check: &mut Check<'_>, table: &Table) -> Result<()> {
    let total = check.count(table.name);
    let conn = check.conn;
    let mut statement = conn.prepare(table.sql).map_err(translate)?;
    let mut rows = statement.query([]).map_err(translate)?;
    // The last chunk that was read; no events if it is damaged, which is reported elsewhere.
    let mut last: Option<(i64, Option<Vec<Draft>>)> = None;
    let mut done = 0;
    while let Some(row) = rows.next().map_err(translate)? {
        let read = || -> rusqlite::Result<_> { Ok((row.get(0)?, row.get(1)?, row.get(2)?)) };
        let (mark, seq, is_marked): (String, i64, bool) = read().map_err(translate)?;
        let drafts = match &mut last {
            Some((known, drafts)) if *known == seq => drafts,
            last => &mut last.insert((seq, drafts(row).map_err(translate)?)).1,
        };
        let holds = |drafts: &Vec<Draft>| drafts.iter().any(|draft| (table.holds)(draft, &mark));
        let is_wrong = drafts.as_ref().is_some_and(|drafts| !holds(drafts));
        if is_wrong {
            let problem = format!("chunk {seq} holds no such event");
            check.report.add(table.name, Some(mark), problem);
        } else if !is_marked {
            let problem = "events refer to it, and its row says that none do";
            check.report.add("chunks", Some(seq.to_string()), problem);
        }
        done += 1;
        if done % 1_000 == 0 {
            check.inspector.progress(table.name, done, total);
        }
    }
    check.inspector.progress(table.name, total, total);
    Ok(())
}

fn drafts(row: &Row<'_>) -> rusqlite::Result<Option<Vec<Draft>>> {
    let (first, base_ms): (u64, Millis) = (row.get(3)?, row.get(4)?);
    let body = row.get_ref(5)?.as_blob().unwrap_or_default();
    Ok(codec::decode(body, first, base_ms))
}
