-- Ends an armed row that does not run.
UPDATE runs
SET status = ?2, reason = ?3, detail = ?4, completed_at = ?5
WHERE key = ?1 AND status = 'scheduled'
