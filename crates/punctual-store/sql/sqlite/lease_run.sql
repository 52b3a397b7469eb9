UPDATE runs SET status = 'running', token = ?2, started_at = ?3, look_at = ?4, executor_run_id = ?5
WHERE key = ?1 AND status = 'enqueued'
