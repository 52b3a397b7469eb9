UPDATE runs SET status = 'running', started_at = ?3 WHERE key = ?1 AND fence = ?2 AND status = 'enqueued'
