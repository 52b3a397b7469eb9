-- Ends a run in flight, if the fence is still the one it was launched under.
UPDATE runs
SET status = ?3, reason = ?4, detail = ?5, started_at = coalesce(started_at, ?6), completed_at = ?7, output = ?8
WHERE key = ?1 AND fence = ?2 AND status IN ('enqueued', 'running')
