DELETE FROM outbox WHERE seq IN (SELECT seq FROM outbox WHERE at < $1::bigint ORDER BY seq LIMIT $2::bigint)
