SELECT scheduled_for FROM runs WHERE key = ?1
