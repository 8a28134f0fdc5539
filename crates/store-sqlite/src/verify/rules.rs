//! Rules that every row of a table follows, each as a query for the rows that break it.

use riverrun_store::Result;

use super::Check;
use crate::error::translate;

/// A table, a problem, and the ids of the rows that have it.
///
/// `{runs.extra}` and `{snapshots.body}` are the texts of those payloads, of `runs r` and
/// `snapshots s`.
pub(super) type Rule = (&'static str, &'static str, &'static str);

pub(super) fn check(check: &mut Check<'_>, stage: &'static str, rules: &[Rule]) -> Result<()> {
    let total = rules.len() as u64;
    for (done, (place, problem, sql)) in rules.iter().enumerate() {
        check.inspector.progress(stage, done as u64, total);
        let found = ids(check, sql);
        for id in check.noted(place, found)?.unwrap_or_default() {
            check.report.add(place, Some(id), *problem);
        }
    }
    check.inspector.progress(stage, total, total);
    Ok(())
}

fn ids(check: &Check<'_>, sql: &str) -> Result<Vec<String>> {
    let sql = sql
        .replace("{runs.extra}", &text_of("r.extra"))
        .replace("{snapshots.body}", &text_of("s.body"));
    let read = || -> rusqlite::Result<Vec<String>> {
        check
            .conn
            .prepare(&format!(
                "WITH found (id) AS ({sql}) SELECT CAST(id AS TEXT) FROM found LIMIT ?1"
            ))?
            .query_map([super::MOST], |row| row.get(0))?
            .collect()
    };
    read().map_err(translate)
}

/// A payload without its checksum. Older versions wrote TEXT without one.
fn text_of(column: &str) -> String {
    format!(
        "CAST(iif(typeof({column}) = 'blob', substr({column}, 1, length({column}) - 4), {column})
             AS TEXT)"
    )
}
