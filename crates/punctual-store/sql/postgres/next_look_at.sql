WITH RECURSIVE o (org) AS (
    (SELECT r.org FROM runs r WHERE r.look_at IS NOT NULL ORDER BY r.org LIMIT 1)
    UNION ALL
    SELECT (SELECT r.org FROM runs r WHERE r.look_at IS NOT NULL AND r.org > o.org ORDER BY r.org LIMIT 1)
    FROM o
    WHERE o.org IS NOT NULL
)
SELECT min(n.look_at)
FROM o
CROSS JOIN LATERAL (
    SELECT r.look_at FROM runs r
    WHERE r.org = o.org AND r.look_at > $1::bigint AND ($2::bigint[] IS NULL OR r.shard = ANY ($2::bigint[]))
    ORDER BY r.look_at
    LIMIT 1
) n
WHERE o.org IS NOT NULL
