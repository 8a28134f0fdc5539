//! Consistency between the columns of one row: states, counts, times and positions.

use super::rules::Rule;

pub(super) const RULES: &[Rule] = &[
    (
        "runs",
        "its status is not that of a run with its end",
        "SELECT id FROM runs WHERE (status > 3) <> (ended_ms IS NOT NULL)",
    ),
    (
        "runs",
        "it was created before earlier runs by more than any was",
        "SELECT id FROM (
             SELECT id, created_ms, max(created_ms) OVER (
                 ORDER BY no ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newest_ms
             FROM runs)
         WHERE newest_ms - created_ms > (SELECT value FROM meta WHERE key = 'stray_ms')",
    ),
    (
        "runs",
        "its number of decisions is none that a run reaches",
        "SELECT id FROM runs WHERE turn NOT BETWEEN 0 AND 1 << 52",
    ),
    (
        "jobs",
        "its run has ended",
        "SELECT r.id FROM jobs j JOIN runs r ON r.no = j.run WHERE r.status > 3",
    ),
    (
        "jobs",
        "its lease is not whole",
        "SELECT run FROM jobs WHERE (token IS NULL) <> (owner IS NULL)
             OR (token IS NULL) <> (until_ms IS NULL) OR woken NOT BETWEEN 0 AND 2
             OR (woken <> 0 AND token IS NULL)",
    ),
    (
        "work",
        "its state is unknown",
        "SELECT id FROM work WHERE state NOT BETWEEN -1 AND 5",
    ),
    (
        "work",
        "it has a lease and is not active",
        "SELECT id FROM work WHERE state <> 2 AND lease IS NOT NULL",
    ),
    (
        "work",
        "its state is not that of a job with its end",
        "SELECT id FROM work WHERE (state > 2) <> (ended_ms IS NOT NULL)",
    ),
    (
        "work",
        "its attempts and their beginning do not fit its state",
        "SELECT id FROM work WHERE attempt NOT BETWEEN 0 AND 4294967295
             OR (attempt > 0 AND started_ms IS NULL) OR (state IN (2, 3) AND attempt = 0)",
    ),
    (
        "work",
        "its times are not in order",
        // They are written in order, also when the clock goes back. Earlier versions wrote what the
        // clock showed, which goes back now and then, by less than a day.
        "SELECT id FROM work WHERE created_ms < 0 OR started_ms < created_ms - 86400000
             OR ended_ms < coalesce(started_ms, created_ms) - 86400000",
    ),
    (
        "work",
        "a column has a value that is never written",
        "SELECT id FROM work WHERE cancel NOT BETWEEN 0 AND 2 OR (cancel <> 0 AND state > 2)
             OR taken NOT BETWEEN 0 AND 3 OR told NOT BETWEEN 0 AND 3
             OR (told = 3 AND state < 3) OR (told = 2 AND started_ms IS NULL)
             OR rank NOT BETWEEN -2147483648 AND 2147483648
             OR losses_in_row NOT BETWEEN 0 AND losses OR losses > 4294967295",
    ),
    (
        "queues",
        "a column has a value that is never written",
        "SELECT name FROM queues WHERE paused NOT IN (0, 1) OR turn NOT BETWEEN 0 AND 1 << 52
             OR own_turn NOT BETWEEN 0 AND 1 << 52 OR rate_from_ms < 0 OR rate_count < 0",
    ),
    (
        "lanes",
        "its turn is none that a lane has",
        "SELECT key FROM lanes WHERE turn NOT BETWEEN 0 AND 1 << 52
             AND NOT (turn = 9223372036854775807 AND active > 0)",
    ),
    (
        "awaits",
        "its state is not that of an await with its values",
        "SELECT id FROM awaits WHERE state NOT BETWEEN 0 AND 2 OR (state = 0 AND fired > 0)
             OR (state = 1 AND fired = 0) OR (fired > 0) <> (fired_ms IS NOT NULL)",
    ),
    (
        "awaits",
        "it waits for an event that is not there yet",
        "SELECT id FROM awaits WHERE born NOT BETWEEN 0 AND
             (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'emits')",
    ),
    (
        "awaits",
        "it has a key and waits for a call, or has none and waits for an event",
        "SELECT a.id FROM awaits a JOIN shapes s ON s.no = a.shape
         WHERE (s.class = 2) <> (a.key IS NULL)",
    ),
    (
        "awaits",
        "it expires before it was created",
        "SELECT id FROM awaits WHERE expires_ms < created_ms",
    ),
    (
        "triggers",
        "it is due, or has a route, and is not there",
        "SELECT id FROM triggers WHERE enabled NOT IN (0, 1)
             OR (enabled = 0 AND due_ms IS NOT NULL)
             OR (removed_ms IS NOT NULL AND (enabled <> 0 OR route IS NOT NULL))",
    ),
    (
        "chunks",
        "it is marked otherwise than it is",
        "SELECT seq FROM chunks WHERE marks NOT IN (0, 1)",
    ),
    (
        "meta",
        "it is missing",
        "SELECT wanted.value FROM json_each('[\"opens\", \"checks\", \"stray_ms\", \"log\", \"unheard\"]') wanted
         WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = wanted.value)",
    ),
    (
        "meta",
        "it has a value that is never reached",
        "SELECT key FROM meta WHERE value NOT BETWEEN 0 AND 1 << 52",
    ),
];
