-- Why: jobs in queues, beside the jobs that drive runs.
-- Lock cost: none, the tables are new.
--
-- A job is one row for its whole life. Every state has a partial index of its own, so a job is in
-- exactly one of them, and moving it costs the removal from one and the entry into the other.

CREATE TABLE queues (
    no           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    created_ms   INTEGER NOT NULL,
    paused       INTEGER NOT NULL DEFAULT 0,
    -- How many jobs it has in each state.
    waiting      INTEGER NOT NULL DEFAULT 0,
    delayed      INTEGER NOT NULL DEFAULT 0,
    active       INTEGER NOT NULL DEFAULT 0,
    completed    INTEGER NOT NULL DEFAULT 0,
    failed       INTEGER NOT NULL DEFAULT 0,
    cancelled    INTEGER NOT NULL DEFAULT 0,
    keyed        INTEGER NOT NULL DEFAULT 0, -- waiting jobs that have a key
    turn         INTEGER NOT NULL DEFAULT 0, -- of the lane that was served last
    own_turn     INTEGER NOT NULL DEFAULT 0, -- of the jobs without a key
    rate_from_ms INTEGER NOT NULL DEFAULT 0, -- the beginning of the rate's window
    rate_count   INTEGER NOT NULL DEFAULT 0  -- jobs begun in it
);

-- The jobs of a key that have not ended. Lanes are served in the order of `turn`, and one that was
-- served moves back, so that a key with a million jobs takes its turn like any other.
CREATE TABLE lanes (
    no      INTEGER PRIMARY KEY,
    queue   INTEGER NOT NULL,
    key     TEXT NOT NULL,
    waiting INTEGER NOT NULL DEFAULT 0,
    active  INTEGER NOT NULL DEFAULT 0,
    held    INTEGER NOT NULL DEFAULT 0,      -- waiting, delayed and active
    turn    INTEGER NOT NULL,
    UNIQUE (queue, key)
);

CREATE INDEX lanes_ready ON lanes (queue, turn) WHERE waiting > 0;

CREATE TABLE work (
    no         INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    queue      INTEGER NOT NULL,
    lane       INTEGER NOT NULL,             -- lanes.no, 0 without a key
    -- 0 waiting, 1 delayed, 2 active, 3 completed, 4 failed, 5 cancelled
    state      INTEGER NOT NULL,
    rank       INTEGER NOT NULL,             -- the negative of the priority
    at_ms      INTEGER NOT NULL,             -- when it may begin
    lease      INTEGER,                      -- leases.no
    attempt    INTEGER NOT NULL DEFAULT 0,
    cancel     INTEGER NOT NULL DEFAULT 0,   -- the holder is to stop it
    taken      INTEGER NOT NULL DEFAULT 0,   -- 1 has a unique name until it ends, 2 for longer
    created_ms INTEGER NOT NULL,
    started_ms INTEGER,
    ended_ms   INTEGER,
    name       TEXT,                         -- null for the queue's
    key        TEXT,
    data       TEXT,                         -- null if it is large: then in work_data
    options    TEXT,
    progress   TEXT,
    checkpoint TEXT,
    error      TEXT,
    result     TEXT
);

CREATE INDEX work_waiting ON work (queue, lane, rank, no) WHERE state = 0;
CREATE INDEX work_delayed ON work (queue, at_ms) WHERE state = 1;
CREATE INDEX work_active ON work (lease) WHERE state = 2;
CREATE INDEX work_ended ON work (queue, state, ended_ms) WHERE state > 2;

-- Large data apart: a row is written anew whenever its job moves.
CREATE TABLE work_data (
    no   INTEGER PRIMARY KEY,
    data TEXT NOT NULL
);

-- One for each claim, whatever it took.
CREATE TABLE leases (
    no       INTEGER PRIMARY KEY,            -- the token
    owner    TEXT NOT NULL,
    until_ms INTEGER NOT NULL
);

CREATE INDEX leases_until ON leases (until_ms);

-- Names that a queue has at most one job under.
CREATE TABLE uniques (
    queue    INTEGER NOT NULL,
    key      TEXT NOT NULL,
    job      INTEGER NOT NULL,               -- work.no
    until_ms INTEGER NOT NULL,
    PRIMARY KEY (queue, key)
) WITHOUT ROWID;

CREATE INDEX uniques_job ON uniques (job);
