-- The rows of a schedule that are in flight, wait or are to be tried again.
SELECT key, status, wait_kind, scheduled_for, attempt, wait_since
FROM runs
WHERE schedule = ?1 AND (status = 'enqueued' OR status = 'running' OR status = 'waiting' OR status = 'retrying')
