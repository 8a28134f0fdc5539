//! The deviation of creation times from the order of commits.
//!
//! Lists have the order of commits, filters select by time, and no index joins the two. But a run
//! is committed soon after it was created, so the times nearly grow along the numbers. The largest
//! deviation so far is kept in `meta`; with it a time is found by binary search over the numbers,
//! and numbers beyond the result need not be read. Runs that were imported in any order only make
//! the bound useless, never wrong.

use riverrun_store::Result;
use riverrun_types::Millis;
use rusqlite::{Connection, OptionalExtension};

use crate::error::translate;

/// The cached bounds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CreationDrift {
    /// No run was created after this, as far as is known.
    newest_ms: Millis,
    /// No run was created more than this before any that has a smaller number.
    most_ms: Millis,
}

impl CreationDrift {
    pub(crate) fn load(conn: &Connection) -> rusqlite::Result<Self> {
        let most_ms = most(conn)?;
        let last: Option<Millis> = conn
            .query_row(
                "SELECT created_ms FROM runs WHERE typeof(created_ms) = 'integer'
                 ORDER BY no DESC LIMIT 1",
                [],
                |row| row.get(0),
            )
            .optional()?;
        Ok(Self {
            newest_ms: last.map_or(0, |last| last.saturating_add(most_ms)),
            most_ms,
        })
    }

    /// Records a new run, in its transaction.
    pub(crate) fn note(&mut self, conn: &Connection, created_ms: Millis) -> rusqlite::Result<()> {
        self.newest_ms = self.newest_ms.max(created_ms);
        let behind_ms = self.newest_ms.saturating_sub(created_ms);
        if behind_ms > self.most_ms {
            // With a margin, so that a burst of late runs is not a write for each of them.
            self.most_ms = behind_ms.saturating_add(1_000);
            conn.prepare_cached("UPDATE meta SET value = ?1 WHERE key = 'stray_ms'")?
                .execute([self.most_ms])?;
        }
        Ok(())
    }
}

fn most(conn: &Connection) -> rusqlite::Result<Millis> {
    let most_ms: Option<Millis> = conn
        .prepare_cached("SELECT value FROM meta WHERE key = 'stray_ms' AND value >= 0")?
        .query_row([], |row| Ok(row.get(0).ok()))
        .optional()?
        .flatten();
    // A damaged one is no bound.
    Ok(most_ms.unwrap_or(Millis::MAX))
}

/// The range of numbers, both included, of all runs that were created in a span of time.
pub(crate) fn numbers(
    conn: &Connection,
    since_ms: Option<Millis>,
    until_ms: Option<Millis>,
) -> Result<(Option<i64>, Option<i64>)> {
    let find = || -> rusqlite::Result<_> {
        let most_ms = most(conn)?;
        // If this one and all that may deviate from it are too early, so are those before it.
        let low = since_ms
            .map(|since_ms| boundary(conn, |ms| ms.saturating_add(most_ms) < since_ms))
            .transpose()?;
        // If this one and all that may deviate from it are too late, so are those after it.
        let high = until_ms
            .map(|until_ms| boundary(conn, |ms| ms.saturating_sub(most_ms) < until_ms))
            .transpose()?;
        Ok((low, high))
    };
    find().map_err(translate)
}

/// Binary search for the place where `before` ends: it holds just below, or the range begins there,
/// and it does not hold at the place, or the range ends there.
fn boundary(conn: &Connection, before: impl Fn(Millis) -> bool) -> rusqlite::Result<i64> {
    let last: Option<i64> = conn
        .prepare_cached("SELECT max(no) FROM runs")?
        .query_row([], |row| row.get(0))?;
    // A damaged time is ignored.
    let mut probe = conn.prepare_cached(
        "SELECT no, created_ms FROM runs WHERE no >= ?1 AND typeof(created_ms) = 'integer'
         ORDER BY no LIMIT 1",
    )?;
    let (mut low, mut high) = (0, last.map_or(0, |last| last + 1));
    while low < high {
        let middle = low + (high - low) / 2;
        let found: Option<(i64, Millis)> = probe
            .query_row([middle], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match found {
            Some((no, ms)) if before(ms) => low = no + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs with these times of creation, in the order of their numbers, of which some are gone.
    fn table(times: &[Millis]) -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(
            "CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER);
             INSERT INTO meta VALUES ('stray_ms', 0);
             CREATE TABLE runs (no INTEGER PRIMARY KEY, created_ms INTEGER);",
        )
        .unwrap();
        let mut creation_drift = CreationDrift::load(&conn).unwrap();
        for (no, ms) in (1..).zip(times) {
            creation_drift.note(&conn, *ms).unwrap();
            conn.execute("INSERT INTO runs VALUES (?1, ?2)", [no, *ms])
                .unwrap();
        }
        conn.execute("DELETE FROM runs WHERE no % 5 = 3", [])
            .unwrap();
        conn
    }

    fn check(times: &[Millis]) {
        let conn = table(times);
        let count = |sql: &str, values: [i64; 4]| -> i64 {
            conn.query_row(sql, values, |row| row.get(0)).unwrap()
        };
        for since in (0..30_000).step_by(1_700) {
            for until in (0..30_000).step_by(1_300) {
                let (low, high) = numbers(&conn, Some(since), Some(until)).unwrap();
                let all = "SELECT count(*) FROM runs WHERE created_ms >= ?1 AND created_ms < ?2
                           AND ?3 IS NOT ?4";
                let some = "SELECT count(*) FROM runs WHERE created_ms >= ?1 AND created_ms < ?2
                            AND no >= ?3 AND no <= ?4";
                assert_eq!(
                    count(all, [since, until, 0, 1]),
                    count(some, [since, until, low.unwrap(), high.unwrap()]),
                    "from {since} to {until}: {low:?} to {high:?}"
                );
            }
        }
    }

    #[test]
    fn no_run_of_the_span_is_outside_the_numbers() {
        check(&[]);
        check(&(0..200).map(|at| at * 100).collect::<Vec<_>>());
        check(
            &(0..200)
                .map(|at| at * 100 - (at % 7) * 350)
                .collect::<Vec<_>>(),
        );
        check(&(0..200).map(|at| (at * 7_919) % 20_000).collect::<Vec<_>>());
        check(&(0..200).rev().map(|at| at * 100).collect::<Vec<_>>());
    }

    #[test]
    fn times_in_order_bound_the_numbers_closely() {
        let conn = table(&(0..200).map(|at| at * 100).collect::<Vec<_>>());
        let (low, high) = numbers(&conn, Some(10_000), Some(11_000)).unwrap();
        assert_eq!((low, high), (Some(101), Some(111)));
    }
}
