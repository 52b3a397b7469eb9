SELECT payload FROM runs WHERE key = ?1 AND payload IS NOT NULL
