-- The orgs that have open rows, from one to the next through the index; of each its oldest rows; then the first of
-- each, the second of each, and so on. What is due at this very instant is found by its shard as well: of a herd that is
-- read in parts each row is touched once.
WITH RECURSIVE o (org) AS (
    (SELECT r.org FROM runs r WHERE r.look_at IS NOT NULL ORDER BY r.org LIMIT 1)
    UNION ALL
    SELECT (SELECT r.org FROM runs r WHERE r.look_at IS NOT NULL AND r.org > o.org ORDER BY r.org LIMIT 1)
    FROM o
    WHERE o.org IS NOT NULL
), share (rows) AS (
    SELECT least($3::bigint, greatest(4 * $3::bigint / greatest(count(*), 1), 100)) FROM o WHERE o.org IS NOT NULL
)
SELECT d.key, d.schedule, d.org, d.version, d.origin, d.nonce, d.scheduled_for, d.fire_at, d.attempt, d.status, d.reason,
       d.detail, d.wait_kind, d.wait_for, d.wait_since, d.wait_until, d.is_forced, d.fence, d.place,
       (SELECT rows FROM share), d.traceparent
FROM o
CROSS JOIN LATERAL (
    SELECT f.*, row_number() OVER (ORDER BY f.look_at, f.key) AS place
    FROM (
        (
            SELECT r.*
            FROM runs r
            WHERE r.org = o.org AND r.look_at < $1::bigint AND ($2::bigint[] IS NULL OR r.shard = ANY ($2::bigint[]))
            ORDER BY r.look_at
            LIMIT (SELECT rows FROM share)
        )
        UNION ALL
        (
            SELECT r.*
            FROM runs r
            WHERE r.org = o.org AND r.look_at = $1::bigint AND r.shard >= $4::bigint AND r.shard <= $5::bigint
              AND ($2::bigint[] IS NULL OR r.shard = ANY ($2::bigint[]))
            LIMIT (SELECT rows FROM share)
        )
        LIMIT (SELECT rows FROM share)
    ) f
) d
WHERE o.org IS NOT NULL
ORDER BY d.place, d.look_at
LIMIT $3::bigint
