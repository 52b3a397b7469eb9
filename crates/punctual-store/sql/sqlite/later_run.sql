-- A row fires later; one that was launched before keeps when it was first to be admitted.
UPDATE runs
SET look_at = ?2, fire_at = CASE WHEN status = 'retrying' OR attempt > 0 THEN fire_at ELSE ?2 END
WHERE key = ?1 AND (status = 'scheduled' OR status = 'waiting' OR status = 'retrying')
