-- In the order of keys, as everybody holds runs.
WITH d AS MATERIALIZED (
    SELECT r.key
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS g (run, attempt, fence)
    JOIN runs r ON r.key = g.run AND r.attempt = g.attempt AND r.fence = g.fence AND r.status = $5::text
    ORDER BY r.key
    FOR UPDATE OF r
)
UPDATE runs r SET fence = $4::bigint FROM d WHERE r.key = d.key
