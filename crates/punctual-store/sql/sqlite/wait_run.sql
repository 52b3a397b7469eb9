UPDATE runs
SET status = 'waiting', look_at = ?2, wait_kind = ?3, wait_for = ?4, wait_since = ?5, wait_until = ?6
WHERE key = ?1 AND (status = 'scheduled' OR status = 'waiting' OR status = 'retrying')
