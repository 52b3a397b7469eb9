-- Ended rows of a schedule at or before a tick, failures excepted.
SELECT key, schedule, org, scheduled_for, status, origin, version
FROM runs
WHERE schedule = ?1 AND scheduled_for <= ?2 AND look_at IS NULL AND status <> 'failed'
ORDER BY scheduled_for
LIMIT ?3
