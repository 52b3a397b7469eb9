DELETE FROM runs WHERE key = ?1 AND (status = 'scheduled' OR status = 'waiting')
