-- Why: triggers, which start flows from outside, and the due times of schedules.
-- Lock cost: none, the table is new.
--
-- A trigger that was removed keeps its row for a while, so that its version goes on counting if it
-- comes back, and its stream can be read.

CREATE TABLE triggers (
    no             INTEGER PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,
    version        INTEGER NOT NULL,
    kind           TEXT NOT NULL,
    enabled        INTEGER NOT NULL,
    definition     TEXT NOT NULL,              -- JSON
    route          TEXT,                       -- method and path of an http trigger
    created_ms     INTEGER NOT NULL,
    updated_ms     INTEGER NOT NULL,
    removed_ms     INTEGER,
    due_ms         INTEGER,                    -- of a schedule that is enabled
    fired          INTEGER NOT NULL DEFAULT 0,
    failed         INTEGER NOT NULL DEFAULT 0,
    missed         INTEGER NOT NULL DEFAULT 0,
    last_fired_ms  INTEGER,
    last_run       TEXT,
    last_failed_ms INTEGER,
    last_error     TEXT                        -- JSON
);

CREATE UNIQUE INDEX triggers_route ON triggers (route) WHERE route IS NOT NULL;
CREATE INDEX triggers_due ON triggers (due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX triggers_removed ON triggers (removed_ms) WHERE removed_ms IS NOT NULL;
