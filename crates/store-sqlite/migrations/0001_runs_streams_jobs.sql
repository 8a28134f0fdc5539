-- Why: the first schema. Runs and their streams, jobs, snapshots, other streams, flow definitions.
-- Lock cost: none, the file is new.
--
-- What repeats is a number: names of flows, versions and tenants stand once in `names`, and
-- everything that belongs to a run refers to `runs.no`, which grows in the order of commits.
-- Every index that a finished run pays for costs about a microsecond a commit, so most are
-- partial.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

-- opens: how often the file was opened; makes lease tokens unique across restarts.
-- checks: what the health check writes.
-- stray_ms: the most that a run was created before one that has a smaller number.
INSERT INTO meta (key, value) VALUES ('opens', 0), ('checks', 0), ('stray_ms', 0);

CREATE TABLE names (
    no   INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
);

CREATE TABLE flows (
    no         INTEGER PRIMARY KEY,
    id         TEXT NOT NULL,
    version    TEXT NOT NULL,
    definition TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    UNIQUE (id, version)
);

CREATE TABLE runs (
    no         INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    flow       INTEGER NOT NULL,           -- names.no
    version    INTEGER NOT NULL,           -- names.no
    tenant     INTEGER NOT NULL DEFAULT 0, -- names.no, 0 for none
    -- 0 pending, 1 running, 2 waiting, 3 paused, 4 completed, 5 failed, 6 cancelled
    status     INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    last_ms    INTEGER NOT NULL,           -- of the stream's last event, 0 before the first
    len        INTEGER NOT NULL,           -- events in the stream
    turn       INTEGER NOT NULL,           -- decisions taken
    wake_ms    INTEGER,
    ended_ms   INTEGER,
    error      TEXT,
    idem       TEXT,                       -- idempotency key
    parent     TEXT,                       -- the parent's id: the parent may be deleted first
    extra      TEXT                        -- JSON: tags, metadata, origin, parent's step and visit
);

-- Lists by status. Most runs are completed, and those a plain walk finds soon enough.
CREATE INDEX runs_status ON runs (status) WHERE status <> 4;
CREATE INDEX runs_flow ON runs (flow);
-- Retention.
CREATE INDEX runs_ended ON runs (status, ended_ms) WHERE ended_ms IS NOT NULL;
CREATE INDEX runs_tenant ON runs (tenant) WHERE tenant <> 0;
CREATE INDEX runs_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE UNIQUE INDEX runs_idem ON runs (idem, flow, tenant) WHERE idem IS NOT NULL;

CREATE TABLE tags (
    tag TEXT NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (tag, run)
) WITHOUT ROWID;

-- Streams that are no run's. Their chunks have the negative of `no`.
CREATE TABLE streams (
    no         INTEGER PRIMARY KEY,
    kind       INTEGER NOT NULL,           -- names.no
    id         TEXT NOT NULL,
    len        INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    last_ms    INTEGER NOT NULL,
    UNIQUE (kind, id)
);

CREATE INDEX streams_kind ON streams (kind);

-- The events of one change to one stream, packed by riverrun_store::codec.
CREATE TABLE chunks (
    seq     INTEGER PRIMARY KEY,
    stream  INTEGER NOT NULL,              -- runs.no, or -streams.no
    first   INTEGER NOT NULL,              -- position of the first event
    count   INTEGER NOT NULL,
    base_ms INTEGER NOT NULL,              -- time of the first event
    body    BLOB NOT NULL
);

CREATE UNIQUE INDEX chunks_stream ON chunks (stream, first);

CREATE TABLE jobs (
    run      INTEGER PRIMARY KEY,
    at_ms    INTEGER NOT NULL,
    token    INTEGER,                      -- of the lease, null when nobody holds it
    owner    TEXT,
    until_ms INTEGER,
    -- 0 no, 1 since the holder last heard of it, 2 the holder has been told
    woken    INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX jobs_ready ON jobs (at_ms) WHERE token IS NULL;
CREATE INDEX jobs_leased ON jobs (until_ms) WHERE token IS NOT NULL;

CREATE TABLE snapshots (
    run  INTEGER NOT NULL,
    len  INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, len)
) WITHOUT ROWID;
