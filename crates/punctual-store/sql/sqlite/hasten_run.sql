-- A run whose next attempt is planned is looked at now; gives back whose it is.
UPDATE runs SET look_at = ?2
WHERE key = ?1 AND (?3 IS NULL OR org = ?3) AND status = 'retrying'
RETURNING org, schedule
