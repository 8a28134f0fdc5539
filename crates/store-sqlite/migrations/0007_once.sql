-- Events from outside that are said again under the same key are stored once. Adds a table; nothing
-- is rewritten.

CREATE TABLE once (
    key TEXT PRIMARY KEY,
    ids TEXT NOT NULL,                     -- of the events, separated by commas
    ms  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX once_ms ON once (ms);
