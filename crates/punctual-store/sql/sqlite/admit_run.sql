UPDATE runs
SET status = 'enqueued', attempt = 1, fence = ?2, enqueued_at = ?3
WHERE key = ?1 AND status = 'scheduled'
