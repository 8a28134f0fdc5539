//! Lists of awaits, newest first. Each filter has an index that leads; if a kind has several
//! shapes, or a shape several states, each has a walk of its own, and together they find the page.

use riverrun_store::{AwaitFilter, AwaitRecord, AwaitState, Page, Result};
use rusqlite::types::Value;

use super::{
    View,
    awaits::{page, select},
    lists::{MAX_PAGE, read_cursor},
};
use crate::{
    awaits::{CALLBACKS, COLUMNS, TABLES, state_code},
    error::translate,
};

pub(crate) fn list_awaits(view: View<'_>, filter: &AwaitFilter) -> Result<Page<AwaitRecord>> {
    let before = filter.cursor.as_deref().map(read_cursor).transpose()?;
    let limit = filter.limit.clamp(1, MAX_PAGE);
    let mut found = Vec::new();
    for (condition, mut values) in walks(view, filter)? {
        values.push(Value::from(before.unwrap_or(i64::MAX)));
        let sql = format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE {condition} AND a.no < ?{}
             ORDER BY a.no DESC LIMIT {}",
            values.len(),
            limit + 1
        );
        let values = rusqlite::params_from_iter(values);
        found.extend(select(view, &sql, values)?);
    }
    found.sort_by_key(|(no, _)| std::cmp::Reverse(*no));
    Ok(page(found, limit))
}

type Walk = (String, Vec<Value>);

fn walks(view: View<'_>, filter: &AwaitFilter) -> Result<Vec<Walk>> {
    let state = filter.state.map(state_code);
    if let Some(run) = &filter.run {
        let mut condition = "a.run = (SELECT no FROM runs WHERE id = ?1)".to_owned();
        let mut values = vec![Value::from(run.as_str().to_owned())];
        if let Some(state) = state {
            condition += &format!(" AND +a.state = {state}");
        }
        if let Some(kind) = &filter.kind {
            condition += " AND +s.kind = ?2 AND +s.class < 2";
            values.push(Value::from(kind.to_string()));
        }
        if filter.callbacks {
            condition += &format!(" AND +a.shape = {CALLBACKS}");
        }
        return Ok(vec![(condition, values)]);
    }
    let shapes = match (&filter.kind, filter.callbacks) {
        (None, false) => {
            let condition = match state {
                None => "1".to_owned(),
                // Most awaits are open, and those have no index: a plain walk finds them soon.
                Some(0) => "+a.state = 0".to_owned(),
                Some(state) => format!("a.state = {state} AND a.state > 0"),
            };
            return Ok(vec![(condition, Vec::new())]);
        }
        (None, true) => vec![CALLBACKS],
        // A callback has no kind.
        (Some(_), true) => Vec::new(),
        (Some(kind), false) => shapes_of(view, kind)?,
    };
    let states: Vec<i64> = match state {
        Some(state) => vec![state],
        None => AwaitState::ALL.into_iter().map(state_code).collect(),
    };
    let each = shapes.iter().flat_map(|shape| {
        states.iter().map(move |state| {
            let condition = "a.shape = ?1 AND a.state = ?2".to_owned();
            (condition, vec![Value::from(*shape), Value::from(*state)])
        })
    });
    Ok(each.collect())
}

fn shapes_of(view: View<'_>, kind: &str) -> Result<Vec<i64>> {
    let read = || -> rusqlite::Result<Vec<i64>> {
        view.conn
            .prepare_cached("SELECT no FROM shapes WHERE kind = ?1 AND class < 2 AND held > 0")?
            .query_map([kind], |row| row.get(0))?
            .collect()
    };
    read().map_err(translate)
}
