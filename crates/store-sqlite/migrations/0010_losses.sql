-- Why: attempts that were lost with their worker cost a job nothing and are counted apart; a job
-- that was lost too often in a row is parked; and the server keeps small values of its own, such as
-- how often it has crashed in a row.
-- Lock cost: the jobs are read once, for the index of parked ones, which is empty.

ALTER TABLE work ADD COLUMN losses INTEGER NOT NULL DEFAULT 0;        -- attempts that were lost
ALTER TABLE work ADD COLUMN losses_in_row INTEGER NOT NULL DEFAULT 0; -- since the last that was not
ALTER TABLE queues ADD COLUMN parked INTEGER NOT NULL DEFAULT 0;

-- A parked job has the state -1, and at_ms says since when.
CREATE INDEX work_parked ON work (queue, no) WHERE state = -1;

CREATE TABLE markers (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
