//! Waiting and leased run tasks.

use riverrun_store::{Result, Stats};
use riverrun_types::{Millis, time::NEVER};

use super::View;
use crate::error::translate;

/// Run tasks that only others can wake have no time.
pub(crate) fn next_due(view: View<'_>) -> Result<Option<Millis>> {
    let read = || -> rusqlite::Result<Option<Millis>> {
        let first = |sql: &str| -> rusqlite::Result<Option<Millis>> {
            view.conn
                .prepare_cached(sql)?
                .query_row([], |row| row.get(0))
        };
        let free = first("SELECT min(at_ms) FROM jobs WHERE token IS NULL")?;
        let leased = first("SELECT min(until_ms) FROM jobs WHERE token IS NOT NULL")?;
        let next = [free, leased].into_iter().flatten().min();
        Ok(next.filter(|ms| *ms < NEVER))
    };
    read().map_err(translate)
}

pub(crate) fn stats(view: View<'_>, now_ms: Millis) -> Result<Stats> {
    let count = |sql: &str, values: &[Millis]| -> Result<u64> {
        view.conn
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement.query_row(rusqlite::params_from_iter(values), |row| row.get(0))
            })
            .map_err(translate)
    };
    Ok(Stats {
        ready: count(
            "SELECT count(*) FROM jobs WHERE token IS NULL AND at_ms <= ?1",
            &[now_ms],
        )?,
        leased: count("SELECT count(*) FROM jobs WHERE token IS NOT NULL", &[])?,
        parked: count(
            "SELECT count(*) FROM jobs WHERE token IS NULL AND at_ms > ?1",
            &[now_ms],
        )?,
        bytes: None,
    })
}
