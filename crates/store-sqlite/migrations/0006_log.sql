-- Why: one order of all events, which readers across streams go by; kinds and correlations of
-- events, to be found without reading everything.
-- Lock cost: chunks are written anew, once.
--
-- A chunk's number is the number of its first event in the log of all events, and those after it
-- follow. Numbers are never given twice: readers remember the last they saw. Where the last chunks
-- were deleted, `meta` remembers the next number.

CREATE TABLE numbered (
    seq     INTEGER PRIMARY KEY,
    stream  INTEGER NOT NULL,              -- runs.no, or -streams.no
    first   INTEGER NOT NULL,              -- position of the first event
    count   INTEGER NOT NULL,
    base_ms INTEGER NOT NULL,              -- time of the first event
    marks   INTEGER NOT NULL DEFAULT 0,    -- whether kinds or stories refer to it
    body    BLOB NOT NULL
);

-- A chunk has at most 256 events.
INSERT INTO numbered (seq, stream, first, count, base_ms, body)
    SELECT seq * 256, stream, first, count, base_ms, body FROM chunks ORDER BY seq;
DROP TABLE chunks;
ALTER TABLE numbered RENAME TO chunks;
CREATE UNIQUE INDEX chunks_stream ON chunks (stream, first);

-- log: the next number that an event may have.
INSERT INTO meta (key, value) VALUES ('log', 1);

-- The chunks that hold an event of a kind. Kinds that nearly every run has are left out: who wants
-- those reads the log.
CREATE TABLE kinds (
    kind TEXT NOT NULL,
    seq  INTEGER NOT NULL,                 -- chunks.seq
    PRIMARY KEY (kind, seq)
) WITHOUT ROWID;

-- The chunks that hold an event with a correlation id, by stream.
CREATE TABLE stories (
    correlation TEXT NOT NULL,
    stream      INTEGER NOT NULL,          -- as in chunks
    first       INTEGER NOT NULL,          -- as in chunks
    PRIMARY KEY (correlation, stream, first)
) WITHOUT ROWID;

-- Runs and jobs that belong to a story other than their own.
ALTER TABLE runs ADD COLUMN correlation TEXT;
ALTER TABLE work ADD COLUMN correlation TEXT;
CREATE INDEX runs_story ON runs (correlation) WHERE correlation IS NOT NULL;
CREATE INDEX work_story ON work (correlation) WHERE correlation IS NOT NULL;

-- Emitted events to which nobody reacted, by kind.
CREATE TABLE unheard (
    kind    TEXT PRIMARY KEY,
    count   INTEGER NOT NULL,
    last_ms INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX unheard_last ON unheard (last_ms);

-- unheard: how many there were, of all kinds.
INSERT INTO meta (key, value) VALUES ('unheard', 0);
