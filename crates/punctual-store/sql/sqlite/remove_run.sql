DELETE FROM runs WHERE key = ?1 AND status IN ('scheduled', 'waiting')
