//! Every payload: its checksum, and that it is JSON.

use riverrun_store::{Result, checksum};
use riverrun_types::Json;
use rusqlite::types::ValueRef;

use super::Check;
use crate::error::translate;

/// A table, how its rows are named, and the columns that hold payloads.
struct Table {
    name: &'static str,
    id: &'static str,
    columns: &'static [&'static str],
}

const TABLES: &[Table] = &[
    Table {
        name: "flows",
        id: "t.id || '@' || t.version",
        columns: &["definition"],
    },
    Table {
        name: "runs",
        id: "t.id",
        columns: &["error", "extra"],
    },
    Table {
        name: "snapshots",
        id: "coalesce((SELECT id FROM runs WHERE no = t.run), t.run)",
        columns: &["body"],
    },
    Table {
        name: "work",
        id: "t.id",
        columns: &[
            "data",
            "options",
            "progress",
            "checkpoint",
            "error",
            "result",
        ],
    },
    Table {
        name: "work_data",
        id: "coalesce((SELECT id FROM work WHERE no = t.no), t.no)",
        columns: &["data"],
    },
    Table {
        name: "awaits",
        id: "t.id",
        columns: &["body"],
    },
    Table {
        name: "answers",
        id: "coalesce((SELECT id FROM awaits WHERE no = t.await), t.await)",
        columns: &["value"],
    },
    Table {
        name: "emits",
        id: "t.seq",
        columns: &["event"],
    },
    Table {
        name: "triggers",
        id: "t.id",
        columns: &["definition", "last_error"],
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
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|name| format!("t.{name}"))
        .collect();
    let sql = format!(
        "SELECT CAST({} AS TEXT), {} FROM {} t",
        table.id,
        columns.join(", "),
        table.name
    );
    let conn = check.conn;
    let mut statement = conn.prepare(&sql).map_err(translate)?;
    let mut rows = statement.query([]).map_err(translate)?;
    let mut done = 0;
    while let Some(row) = rows.next().map_err(translate)? {
        for (at, column) in table.columns.iter().enumerate() {
            let value = row.get_ref(at + 1).map_err(translate)?;
            if let Err(problem) = judge(check, value) {
                let id = row.get_ref(0).ok().and_then(|id| id.as_str().ok());
                let problem = format!("{column} {problem}");
                check.report.add(table.name, id.map(str::to_owned), problem);
            }
        }
        done += 1;
        if done % 1_000 == 0 {
            check.inspector.progress(table.name, done, total);
        }
    }
    check.inspector.progress(table.name, done, total);
    Ok(())
}

fn judge(check: &mut Check<'_>, value: ValueRef<'_>) -> std::result::Result<(), &'static str> {
    let text = match value {
        ValueRef::Null => return Ok(()),
        ValueRef::Blob(sealed) => {
            check.report.checked += 1;
            checksum::unseal(sealed).ok_or("does not match its checksum")?
        }
        ValueRef::Text(text) => {
            check.report.unchecked += 1;
            std::str::from_utf8(text).map_err(|_| "is no text")?
        }
        _ => return Err("is no text"),
    };
    match Json::stored(text.to_owned()) {
        Ok(_) => Ok(()),
        Err(_) => Err("is no JSON"),
    }
}
