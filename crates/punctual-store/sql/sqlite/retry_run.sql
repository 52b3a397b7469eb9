-- A run is to be tried again.
UPDATE runs
SET status = 'retrying', reason = ?2, detail = ?3, started_at = coalesce(?4, started_at), look_at = ?5
WHERE key = ?1
