//! Every reference from one row to another, and the counts that are kept beside what they count.

use riverrun_store::Result;

use super::Check;
use crate::error::translate;

/// A table, a problem, and the ids of the rows that have it.
const RULES: &[(&str, &str, &str)] = &[
    (
        "runs",
        "its flow, version or tenant has no name",
        "SELECT id FROM runs WHERE flow NOT IN (SELECT no FROM names)
             OR version NOT IN (SELECT no FROM names)
             OR (tenant <> 0 AND tenant NOT IN (SELECT no FROM names))",
    ),
    (
        "runs",
        "it has not ended, and nothing will take it up",
        "SELECT id FROM runs r WHERE ended_ms IS NULL AND status < 4
             AND NOT EXISTS (SELECT 1 FROM jobs WHERE run = r.no)",
    ),
    (
        "jobs",
        "its run is missing",
        "SELECT run FROM jobs j WHERE NOT EXISTS (SELECT 1 FROM runs WHERE no = j.run)",
    ),
    (
        "tags",
        "its run is missing",
        "SELECT tag FROM tags t WHERE NOT EXISTS (SELECT 1 FROM runs WHERE no = t.run)",
    ),
    (
        "snapshots",
        "its run is missing",
        "SELECT run FROM snapshots s WHERE NOT EXISTS (SELECT 1 FROM runs WHERE no = s.run)",
    ),
    (
        "work",
        "its queue is missing",
        "SELECT id FROM work w WHERE NOT EXISTS (SELECT 1 FROM queues WHERE no = w.queue)",
    ),
    (
        "work",
        "it has no data",
        "SELECT id FROM work w WHERE data IS NULL
             AND NOT EXISTS (SELECT 1 FROM work_data WHERE no = w.no)",
    ),
    (
        "work",
        "it is active without a lease",
        "SELECT id FROM work w WHERE state = 2
             AND NOT EXISTS (SELECT 1 FROM leases WHERE no = w.lease)",
    ),
    (
        "work_data",
        "its job is missing",
        "SELECT no FROM work_data d WHERE NOT EXISTS (SELECT 1 FROM work WHERE no = d.no)",
    ),
    (
        "queues",
        "its counts of jobs are not those of its jobs",
        "SELECT q.name FROM queues q LEFT JOIN (
             SELECT queue, sum(state = 0) AS waiting, sum(state = 1) AS delayed,
                 sum(state = 2) AS active, sum(state = 3) AS completed, sum(state = 4) AS failed,
                 sum(state = 5) AS cancelled
             FROM work GROUP BY queue) c ON c.queue = q.no
         WHERE q.waiting <> coalesce(c.waiting, 0) OR q.delayed <> coalesce(c.delayed, 0)
             OR q.active <> coalesce(c.active, 0) OR q.completed <> coalesce(c.completed, 0)
             OR q.failed <> coalesce(c.failed, 0) OR q.cancelled <> coalesce(c.cancelled, 0)",
    ),
    (
        "awaits",
        "its run is missing",
        "SELECT id FROM awaits a WHERE NOT EXISTS (SELECT 1 FROM runs WHERE no = a.run)",
    ),
    (
        "awaits",
        "what it compares is missing",
        "SELECT id FROM awaits a WHERE NOT EXISTS (SELECT 1 FROM shapes WHERE no = a.shape)",
    ),
    (
        "awaits",
        "it was fired with other values than it has",
        "SELECT id FROM awaits a
         WHERE fired <> (SELECT count(*) FROM answers WHERE await = a.no)",
    ),
    (
        "answers",
        "its await is missing",
        "SELECT await FROM answers v WHERE NOT EXISTS (SELECT 1 FROM awaits WHERE no = v.await)",
    ),
    (
        "signals",
        "its event is missing",
        "SELECT no FROM signals g WHERE NOT EXISTS (SELECT 1 FROM emits WHERE seq = g.emit)",
    ),
    (
        "kinds",
        "the events that it marks are missing",
        "SELECT kind FROM kinds k WHERE NOT EXISTS (SELECT 1 FROM chunks WHERE seq = k.seq)",
    ),
    (
        "stories",
        "the events that it marks are missing",
        "SELECT correlation FROM stories s WHERE NOT EXISTS (
             SELECT 1 FROM chunks WHERE stream = s.stream AND first = s.first)",
    ),
];

pub(super) fn check(check: &mut Check<'_>) -> Result<()> {
    for (done, (place, problem, sql)) in RULES.iter().enumerate() {
        check
            .inspector
            .progress("references", done as u64, RULES.len() as u64);
        let found = ids(check, sql);
        for id in check.noted(place, found)?.unwrap_or_default() {
            check.report.add(place, Some(id), *problem);
        }
    }
    let total = RULES.len() as u64;
    check.inspector.progress("references", total, total);
    Ok(())
}

fn ids(check: &Check<'_>, sql: &str) -> Result<Vec<String>> {
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
