UPDATE runs SET fence = ?4 WHERE key = ?1 AND attempt = ?2 AND fence = ?3 AND status = 'enqueued'
