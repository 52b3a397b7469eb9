-- Ends a run.
UPDATE runs
SET status = ?2, reason = ?3, detail = ?4, started_at = coalesce(?5, started_at), completed_at = ?6, look_at = NULL
WHERE key = ?1
