DELETE FROM outbox WHERE seq IN (SELECT seq FROM outbox WHERE at < ?1 ORDER BY seq LIMIT ?2)
