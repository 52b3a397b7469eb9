-- Ends a row that is not in flight.
UPDATE runs
SET status = ?2, reason = ?3, detail = ?4, completed_at = ?5, look_at = NULL
WHERE key = ?1 AND (status = 'scheduled' OR status = 'waiting' OR status = 'retrying')
