-- Rows of a schedule that are not in flight and have not ended.
SELECT key, scheduled_for, attempt
FROM runs
WHERE schedule = ?1 AND status IN ('scheduled', 'waiting', 'retrying')
ORDER BY scheduled_for, key
