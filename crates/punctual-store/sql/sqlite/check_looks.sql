-- Rows whose state and time to be looked at disagree.
SELECT key, status FROM runs
WHERE (look_at IS NULL) <> (status IN ('success', 'failed', 'cancelled', 'skipped', 'missed'))
   OR (status IN ('success', 'failed', 'cancelled', 'skipped', 'missed') AND completed_at IS NULL)
LIMIT ?1
