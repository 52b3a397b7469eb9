DELETE FROM batches WHERE id IN (SELECT id FROM batches WHERE at < ?1 ORDER BY at LIMIT ?2)
