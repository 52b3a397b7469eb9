UPDATE runs
SET status = 'success', started_at = ?2, completed_at = ?2, look_at = NULL
WHERE key = ?1 AND status = 'enqueued'
