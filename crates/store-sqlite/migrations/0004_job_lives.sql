-- Why: the stream of a job ends with what its row knows of its life; this says how much of that the
-- stream holds already.
-- Lock cost: none, a column with a constant default rewrites no row.

-- 0 nothing, 1 that it was added, 2 that the latest attempt began, 3 that it ended
ALTER TABLE work ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
