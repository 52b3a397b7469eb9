SELECT 'run-' || key FROM runs
WHERE (look_at IS NULL) <> (status IN ('success', 'failed', 'cancelled', 'skipped', 'missed'))
   OR (completed_at IS NULL) <> (look_at IS NOT NULL)
LIMIT $1::bigint
