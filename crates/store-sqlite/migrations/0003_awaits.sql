-- Why: awaits of runs, the log of emitted events, and the outbox of signals that only an expression
-- can judge.
-- Lock cost: none, the tables are new.
--
-- The paths that an await compares are its shape, the values its key. An event of a kind costs one
-- look-up for each shape of that kind, however many awaits are open. Kinds and tenants are texts
-- here, not numbers of `names`, because whoever emits chooses them and `names` lives in memory.

CREATE TABLE shapes (
    no        INTEGER PRIMARY KEY,
    kind      TEXT NOT NULL,
    class     INTEGER NOT NULL,            -- 0 equality alone, 1 with a filter, 2 doors
    paths     TEXT NOT NULL,               -- JSON
    open      INTEGER NOT NULL DEFAULT 0,  -- awaits in state 0
    held      INTEGER NOT NULL DEFAULT 0,  -- awaits in any state
    logged_ms INTEGER,                     -- emit_keys has all events from this time on, null: none
    used_ms   INTEGER NOT NULL DEFAULT 0,  -- of the latest await that looked back
    UNIQUE (kind, class, paths)
);

-- The one shape of all doors.
INSERT INTO shapes (no, kind, class, paths) VALUES (0, '', 2, '');

-- Retention.
CREATE INDEX shapes_idle ON shapes (held) WHERE held = 0;
CREATE INDEX shapes_logged ON shapes (used_ms) WHERE logged_ms IS NOT NULL;

CREATE TABLE awaits (
    no         INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    run        INTEGER NOT NULL,           -- runs.no
    step       TEXT NOT NULL,
    visit      INTEGER NOT NULL,
    tenant     TEXT,
    state      INTEGER NOT NULL,           -- 0 open, 1 fired, 2 closed
    shape      INTEGER NOT NULL,           -- shapes.no
    key        TEXT,                       -- null for a door
    born       INTEGER NOT NULL,           -- the last event in emits before it
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    fired_ms   INTEGER,
    fired      INTEGER NOT NULL DEFAULT 0, -- rows in answers
    body       TEXT                        -- JSON: what there is beside kind and key
);

-- What an event finds.
CREATE INDEX awaits_open ON awaits (shape, key, tenant) WHERE state = 0;
CREATE INDEX awaits_run ON awaits (run);
-- Lists.
CREATE INDEX awaits_shape ON awaits (shape, state);
CREATE INDEX awaits_done ON awaits (state) WHERE state > 0;

-- What awaits were fired with.
CREATE TABLE answers (
    await INTEGER NOT NULL,                -- awaits.no
    at    INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (await, at)
) WITHOUT ROWID;

-- Numbers are never given twice: readers remember the last they saw.
CREATE TABLE emits (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL,
    ms          INTEGER NOT NULL,
    tenant      TEXT,
    stream_kind TEXT NOT NULL,
    stream_id   TEXT NOT NULL,
    event       TEXT NOT NULL
);

CREATE INDEX emits_kind ON emits (kind);
CREATE INDEX emits_ms ON emits (ms);

-- The keys of logged events under the shapes of awaits that look back.
CREATE TABLE emit_keys (
    shape INTEGER NOT NULL,
    key   TEXT NOT NULL,
    ms    INTEGER NOT NULL,
    seq   INTEGER NOT NULL,
    PRIMARY KEY (shape, key, ms, seq)
) WITHOUT ROWID;

CREATE INDEX emit_keys_seq ON emit_keys (seq);

-- The outbox.
CREATE TABLE signals (
    no   INTEGER PRIMARY KEY AUTOINCREMENT,
    emit INTEGER NOT NULL,                 -- emits.seq
    only TEXT                              -- the id of the one await that it is for
);

CREATE INDEX signals_emit ON signals (emit);

-- Kinds whose signals all go into the outbox.
CREATE TABLE listened (
    kind TEXT PRIMARY KEY
) WITHOUT ROWID;
