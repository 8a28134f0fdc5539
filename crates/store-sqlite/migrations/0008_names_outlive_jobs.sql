-- A name that is taken for a time stays so when retention removes its job. Adds a column; nothing is
-- rewritten.

ALTER TABLE uniques ADD COLUMN id TEXT;  -- of the job that was removed; `job` is 0 then

CREATE INDEX uniques_left ON uniques (until_ms) WHERE id IS NOT NULL;
