-- A row that has waited, was tried before, or goes to a queue.
UPDATE runs
SET status = 'enqueued', attempt = ?2, fence = ?3, enqueued_at = ?4, look_at = ?5, queue = ?6,
    traceparent = coalesce(?7, traceparent), token = ?8, executor_run_id = NULL, started_at = NULL, reason = NULL,
    detail = NULL
WHERE key = ?1 AND attempt = ?2 - 1 AND (status = 'scheduled' OR status = 'waiting' OR status = 'retrying')
