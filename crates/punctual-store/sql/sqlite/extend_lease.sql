UPDATE runs SET look_at = ?3
WHERE key = ?1 AND token = ?2 AND status = 'running' AND (?4 IS NULL OR org = ?4)
