//! Lists of runs. The order is that of commits: a run's number.

use riverrun_store::{Error, Page, Result, RunFilter, RunRecord};
use riverrun_types::{Name, RunStatus};

use super::{
    View, runs,
    walk::{Bounds, Walk},
};
use crate::{columns::status_code, creation_drift, error::translate};

/// The most rows of a page, however many were requested.
pub(super) const MAX_PAGE: usize = 100_000;

pub(crate) fn list_runs(view: View<'_>, filter: &RunFilter) -> Result<Page<RunRecord>> {
    let cursor = filter.cursor.as_deref().map(read_cursor).transpose()?;
    let limit = filter.limit.clamp(1, MAX_PAGE);
    let mut found = Vec::new();
    if let Some(bounds) = bounds(view, filter, cursor)? {
        for statuses in walks(filter) {
            let walk = Walk::new(filter, &bounds, &statuses);
            found.extend(read(view, walk, limit + 1)?);
        }
    }
    // Several statuses are several walks, each in order: their concatenation is not.
    if filter.oldest_first {
        found.sort_by_key(|(no, _)| *no);
    } else {
        found.sort_by_key(|(no, _)| std::cmp::Reverse(*no));
    }
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|(no, _)| no.to_string());
    Ok(Page {
        items: found.into_iter().map(|(_, record)| record).collect(),
        next,
    })
}

pub(super) fn read_cursor(text: &str) -> Result<i64> {
    // Only in the form in which a page returns it.
    let is_own = |no: &i64| *no > 0 && no.to_string() == text;
    let number = text.parse().ok().filter(is_own);
    number.ok_or_else(|| Error::BadCursor(text.chars().take(64).collect()))
}

/// The filter's conditions, as numbers. None if a name in it is unknown: no run can match.
fn bounds(view: View<'_>, filter: &RunFilter, cursor: Option<i64>) -> Result<Option<Bounds>> {
    let find = |name: &Option<Name>| match name {
        None => Some(None),
        Some(name) => view.names.find(name).map(Some),
    };
    let (Some(flow), Some(version), Some(tenant)) = (
        find(&filter.flow),
        find(&filter.version),
        find(&filter.tenant),
    ) else {
        return Ok(None);
    };
    let (low, high) = creation_drift::numbers(view.conn, filter.since_ms, filter.until_ms)?;
    Ok(Some(Bounds {
        flow,
        version,
        tenant,
        low,
        high,
        cursor,
    }))
}

/// The statuses of each walk; together they find the page. None are all.
fn walks(filter: &RunFilter) -> Vec<Vec<RunStatus>> {
    if filter.status.is_empty() || Walk::has_better_than_status(filter) {
        return vec![filter.status.clone()];
    }
    // One walk each: only within one status has the index the order of the list.
    let mut each = filter.status.clone();
    each.sort_by_key(|status| status_code(*status));
    each.dedup();
    each.into_iter().map(|status| vec![status]).collect()
}

fn read(view: View<'_>, walk: Walk, limit: usize) -> Result<Vec<(i64, RunRecord)>> {
    let (sql, values) = walk.sql(runs::COLUMNS, limit);
    let mut statement = view.conn.prepare_cached(&sql).map_err(translate)?;
    let values = rusqlite::params_from_iter(values);
    let mut rows = statement.query(values).map_err(translate)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(translate)? {
        let no = row.get(0).map_err(translate)?;
        found.push((no, runs::record(view, row)?));
    }
    Ok(found)
}
