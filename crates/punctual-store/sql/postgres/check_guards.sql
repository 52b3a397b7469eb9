SELECT c.key
FROM guards c
LEFT JOIN runs r ON r.key = c.run
WHERE coalesce(r.status NOT IN ('enqueued', 'running'), true)
LIMIT $1::bigint
