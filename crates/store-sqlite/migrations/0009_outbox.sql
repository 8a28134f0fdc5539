-- Why: signals are found by their kind, and those whose awaits were not all fired are known, so that
-- later events of the kind do not overtake them. Emitted events are no longer listed by kind.
-- Lock cost: the outbox is written anew, once; it is small.

-- 1: awaits that are equal to it were left over
ALTER TABLE signals ADD COLUMN over INTEGER NOT NULL DEFAULT 0;
ALTER TABLE signals ADD COLUMN kind TEXT NOT NULL DEFAULT '';  -- of its event
UPDATE signals SET kind = (SELECT e.kind FROM emits e WHERE e.seq = emit);

CREATE INDEX signals_kind ON signals (kind);
CREATE INDEX signals_over ON signals (kind) WHERE over > 0;
CREATE INDEX signals_only ON signals (only) WHERE only IS NOT NULL;

DROP INDEX emits_kind;
