-- Rows of a schedule that are not in flight and have not ended.
SELECT key, scheduled_for, attempt
FROM runs
WHERE schedule = ?1 AND (status = 'scheduled' OR status = 'waiting' OR status = 'retrying')
ORDER BY scheduled_for, key
