//! Every reference from one row to another, and the stored counts of referenced rows.

use super::rules::Rule;

pub(super) const RULES: &[Rule] = &[
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
                 sum(state = 5) AS cancelled, sum(state = -1) AS parked,
                 sum(state = 0 AND lane <> 0) AS keyed
             FROM work GROUP BY queue) c ON c.queue = q.no
         WHERE q.waiting <> coalesce(c.waiting, 0) OR q.delayed <> coalesce(c.delayed, 0)
             OR q.active <> coalesce(c.active, 0) OR q.completed <> coalesce(c.completed, 0)
             OR q.failed <> coalesce(c.failed, 0) OR q.cancelled <> coalesce(c.cancelled, 0)
             OR q.parked <> coalesce(c.parked, 0) OR q.keyed <> coalesce(c.keyed, 0)",
    ),
    (
        "lanes",
        "its counts of jobs are not those of its jobs",
        "SELECT l.key FROM lanes l LEFT JOIN (
             SELECT lane, sum(state = 0) AS waiting, sum(state = 2) AS active, count(*) AS held
             FROM work WHERE state < 3 AND lane <> 0 GROUP BY lane) c ON c.lane = l.no
         WHERE l.waiting <> coalesce(c.waiting, 0) OR l.active <> coalesce(c.active, 0)
             OR l.held <> coalesce(c.held, 0)",
    ),
    (
        "work",
        "its key is not that of its lane",
        "SELECT id FROM work w WHERE state < 3 AND (lane <> 0 OR key IS NOT NULL)
             AND NOT EXISTS (SELECT 1 FROM lanes l
                 WHERE l.no = w.lane AND l.queue = w.queue AND l.key = w.key)",
    ),
    (
        "work",
        "its stream holds other events of its life than it says",
        "SELECT w.id FROM work w LEFT JOIN streams s
             ON s.id = w.id AND s.kind = (SELECT no FROM names WHERE text = 'job')
         WHERE (w.told > 0) <> (s.no IS NOT NULL)",
    ),
    (
        "uniques",
        "the job that has the name is missing, or has none",
        "SELECT key FROM uniques u WHERE job <> 0 AND NOT EXISTS (
             SELECT 1 FROM work w WHERE w.no = u.job AND w.queue = u.queue AND w.taken <> 0)",
    ),
    (
        "uniques",
        "the name is taken for another time than its job says",
        "SELECT u.key FROM uniques u JOIN work w ON w.no = u.job
         WHERE w.taken IN (1, 3) AND u.until_ms <> iif(w.state < 3, 9223372036854775807, 0)",
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
        "shapes",
        "its counts of awaits are not those of its awaits",
        "SELECT s.no FROM shapes s LEFT JOIN (
             SELECT shape, sum(state = 0) AS open, count(*) AS held FROM awaits GROUP BY shape) c
             ON c.shape = s.no
         WHERE s.open <> coalesce(c.open, 0) OR s.held <> coalesce(c.held, 0)",
    ),
    (
        "answers",
        "its await is missing",
        "SELECT await FROM answers v WHERE NOT EXISTS (SELECT 1 FROM awaits WHERE no = v.await)",
    ),
    (
        "answers",
        "the values of its await are not numbered from 0 on",
        "SELECT await FROM answers GROUP BY await
         HAVING min(at) <> 0 OR max(at) <> count(*) - 1 OR count(DISTINCT at) <> count(*)",
    ),
    (
        "signals",
        "its event is missing, or of another kind",
        "SELECT no FROM signals g WHERE NOT EXISTS (
             SELECT 1 FROM emits WHERE seq = g.emit AND kind = g.kind)",
    ),
    (
        "emit_keys",
        "its event is missing, or of another time",
        "SELECT key FROM emit_keys k WHERE NOT EXISTS (
             SELECT 1 FROM emits WHERE seq = k.seq AND ms = k.ms)",
    ),
    (
        "tags",
        "its run does not have it",
        "SELECT t.tag FROM tags t JOIN runs r ON r.no = t.run
         WHERE json_valid({runs.extra}) AND NOT EXISTS (
             SELECT 1 FROM json_each(iif(json_valid({runs.extra}), {runs.extra}, '{}'), '$.tags')
             WHERE value = t.tag)",
    ),
    (
        "runs",
        "it is not found by one of its tags",
        "SELECT r.id FROM runs r, json_each(iif(json_valid({runs.extra}), {runs.extra}, '{}'),
             '$.tags') j
         WHERE NOT EXISTS (SELECT 1 FROM tags t WHERE t.tag = j.value AND t.run = r.no)",
    ),
    (
        "snapshots",
        "it is of another event than it says",
        "SELECT s.run FROM snapshots s JOIN runs r ON r.no = s.run
         WHERE s.len > r.len OR (json_valid({snapshots.body})
             AND json_extract(iif(json_valid({snapshots.body}), {snapshots.body}, '{}'), '$.len')
                 <> s.len)",
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
