UPDATE runs SET status = 'running', started_at = coalesce(started_at, ?3), executor_run_id = ?4
WHERE key = ?1 AND token = ?2 AND (status = 'enqueued' OR status = 'running') AND (?5 IS NULL OR org = ?5)
