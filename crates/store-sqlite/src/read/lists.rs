//! Lists of runs. The order is that of commits: a run's number.
//!
//! One filter drives, by an index that already has that order (or finds few), and the others
//! only check: a unary plus keeps SQLite from preferring another index and sorting everything.

use riverrun_store::{Error, Page, Result, RunFilter, RunRecord};
use riverrun_types::{Name, RunStatus};
use rusqlite::types::Value;

use super::{View, runs};
use crate::{columns::status_code, error::translate, stray};

/// The most rows of a page, however many were asked for.
pub(super) const MAX_PAGE: usize = 100_000;

pub(crate) fn list_runs(view: View<'_>, filter: &RunFilter) -> Result<Page<RunRecord>> {
    let cursor = filter.cursor.as_deref().map(read_cursor).transpose()?;
    let limit = filter.limit.clamp(1, MAX_PAGE);
    let mut found = Vec::new();
    if let Some(base) = base(view, filter, cursor, limit + 1)? {
        for query in queries(&base, filter) {
            found.extend(query.read(view)?);
        }
    }
    // Several statuses are several walks, each in order: together they are not.
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
    let number = text.parse().ok().filter(|no: &i64| *no > 0);
    number.ok_or_else(|| Error::BadCursor(text.chars().take(64).collect()))
}

struct Query {
    from: &'static str,
    conditions: Vec<String>,
    values: Vec<Value>,
    order: &'static str,
    limit: usize,
}

impl Query {
    fn add(&mut self, condition: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        let parameter = format!("?{}", self.values.len());
        self.conditions.push(condition.replace('?', &parameter));
    }

    fn read(&self, view: View<'_>) -> Result<Vec<(i64, RunRecord)>> {
        let conditions = match &self.conditions[..] {
            [] => "1".to_owned(),
            conditions => conditions.join(" AND "),
        };
        let sql = format!(
            "SELECT {} FROM {} WHERE {conditions} ORDER BY {} LIMIT {}",
            runs::COLUMNS,
            self.from,
            self.order,
            self.limit
        );
        let mut statement = view.conn.prepare_cached(&sql).map_err(translate)?;
        let values = rusqlite::params_from_iter(&self.values);
        let mut rows = statement.query(values).map_err(translate)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(translate)? {
            let no = row.get(0).map_err(translate)?;
            found.push((no, runs::record(view, row)?));
        }
        Ok(found)
    }
}

/// The walks that together find the page.
fn queries(base: &Base, filter: &RunFilter) -> Vec<Query> {
    let driven = filter.tag.is_some() || filter.parent.is_some() || filter.id_prefix.is_some();
    let walks: Vec<Vec<RunStatus>> = match &filter.status[..] {
        [] => vec![Vec::new()],
        all if driven => vec![all.to_vec()],
        // One walk each: only within one status has the index the order of the list.
        all => {
            let mut each: Vec<_> = all.to_vec();
            each.sort_by_key(|status| status_code(*status));
            each.dedup();
            each.into_iter().map(|status| vec![status]).collect()
        }
    };
    walks
        .into_iter()
        .map(|statuses| narrow(base, filter, &statuses, driven))
        .collect()
}

/// None if a name in the filter is nobody's, so that nothing can match.
fn base(
    view: View<'_>,
    filter: &RunFilter,
    cursor: Option<i64>,
    limit: usize,
) -> Result<Option<Base>> {
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
    Ok(Some(Base {
        flow,
        version,
        tenant,
        numbers: stray::numbers(view.conn, filter.since_ms, filter.until_ms)?,
        cursor,
        limit,
    }))
}

/// What the walks have in common, as numbers.
struct Base {
    flow: Option<i64>,
    version: Option<i64>,
    tenant: Option<i64>,
    /// Between which all runs stand that the times ask for.
    numbers: (Option<i64>, Option<i64>),
    cursor: Option<i64>,
    limit: usize,
}

fn narrow(base: &Base, filter: &RunFilter, statuses: &[RunStatus], driven: bool) -> Query {
    let tagged = filter.tag.is_some();
    let mut query = Query {
        from: if tagged {
            "tags t CROSS JOIN runs r ON r.no = t.run"
        } else {
            "runs r"
        },
        conditions: Vec::new(),
        values: Vec::new(),
        order: match (tagged, filter.oldest_first) {
            (true, true) => "t.run",
            (true, false) => "t.run DESC",
            (false, true) => "r.no",
            (false, false) => "r.no DESC",
        },
        limit: base.limit,
    };
    if let Some(tag) = &filter.tag {
        query.add("t.tag = ?", tag.to_string());
    }
    if let Some(parent) = &filter.parent {
        let condition = if tagged {
            "+r.parent = ?"
        } else {
            "r.parent = ?"
        };
        query.add(condition, parent.as_str().to_owned());
    }
    if let Some(prefix) = &filter.id_prefix {
        prefix_of_id(&mut query, prefix, tagged || filter.parent.is_some());
    }
    let by_status = !driven && by_status(&mut query, statuses);
    if driven {
        any_status(&mut query, statuses);
    }
    let by_flow = !driven && !by_status && base.flow.is_some();
    let plus = |driver: bool| if driver { "" } else { "+" };
    if let Some(flow) = base.flow {
        query.add(&format!("{}r.flow = ?", plus(by_flow)), flow);
    }
    if let Some(version) = base.version {
        query.add("r.version = ?", version);
    }
    if let Some(tenant) = base.tenant {
        let by_tenant = !driven && !by_status && !by_flow;
        query.add(&format!("{}r.tenant = ?", plus(by_tenant)), tenant);
        query
            .conditions
            .push(format!("{}r.tenant <> 0", plus(by_tenant)));
    }
    let column = if tagged { "t.run" } else { "r.no" };
    if let Some(low) = base.numbers.0 {
        query.add(&format!("{column} >= ?"), low);
    }
    if let Some(high) = base.numbers.1 {
        query.add(&format!("{column} <= ?"), high);
    }
    if let Some(since_ms) = filter.since_ms {
        query.add("r.created_ms >= ?", since_ms);
    }
    if let Some(until_ms) = filter.until_ms {
        query.add("r.created_ms < ?", until_ms);
    }
    if let Some(cursor) = base.cursor {
        let after = if filter.oldest_first { ">" } else { "<" };
        query.add(&format!("{column} {after} ?"), cursor);
    }
    query
}

/// At most one status: whether its index drives. Completed runs have none, being the many.
fn by_status(query: &mut Query, statuses: &[RunStatus]) -> bool {
    let [status] = statuses else {
        return false;
    };
    let code = status_code(*status);
    if *status == RunStatus::Completed {
        query.conditions.push(format!("+r.status = {code}"));
        return false;
    }
    query.conditions.push(format!("r.status = {code}"));
    query.conditions.push("r.status <> 4".to_owned());
    true
}

fn any_status(query: &mut Query, statuses: &[RunStatus]) {
    if statuses.is_empty() {
        return;
    }
    let codes: Vec<String> = statuses
        .iter()
        .map(|status| status_code(*status).to_string())
        .collect();
    query
        .conditions
        .push(format!("+r.status IN ({})", codes.join(", ")));
}

/// Ids that begin with a text: those from it up to the same text with its last byte counted up.
fn prefix_of_id(query: &mut Query, prefix: &str, driven: bool) {
    let column = if driven { "+r.id" } else { "r.id" };
    query.add(&format!("{column} >= ?"), prefix.to_owned());
    // Ids compare by their bytes, and no character is above this one.
    query.add(&format!("{column} < ?"), format!("{prefix}\u{10FFFF}"));
}
