UPDATE runs
SET status = 'enqueued', attempt = 1, fence = 1, enqueued_at = ?2, look_at = ?3
WHERE key = ?1 AND status = 'scheduled'
