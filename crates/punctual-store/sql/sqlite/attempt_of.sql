SELECT attempt FROM runs WHERE key = ?1
