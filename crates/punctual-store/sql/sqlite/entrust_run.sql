UPDATE runs SET token = ?4, executor_run_id = NULL
WHERE key = ?1 AND attempt = ?2 AND fence = ?3 AND (status = 'enqueued' OR status = 'running')
