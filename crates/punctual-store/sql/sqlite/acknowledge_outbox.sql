DELETE FROM outbox WHERE position <= ?2 AND (?1 IS NULL OR org = ?1)
