DELETE FROM runs WHERE key = ?1 AND look_at IS NULL
