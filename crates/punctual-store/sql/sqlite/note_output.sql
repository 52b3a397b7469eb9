INSERT INTO attempts (run, number, org, started_at, output)
SELECT key, attempt, org, started_at, ?4 FROM runs
WHERE key = ?1 AND attempt = ?2 AND fence = ?3 AND (status = 'enqueued' OR status = 'running')
ON CONFLICT (run, number) DO UPDATE SET output = excluded.output
