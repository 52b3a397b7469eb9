-- Whose lease is over by the database's own clock, or who is not known here at all; a run that is being settled at
-- this moment is left alone. The fences are walked through the index, one step each.
WITH RECURSIVE f (fence) AS (
    SELECT min(o.fence) FROM runs o WHERE o.fence IS NOT NULL AND o.completed_at IS NULL
    UNION ALL
    SELECT (SELECT min(o.fence) FROM runs o WHERE o.fence > f.fence AND o.completed_at IS NULL) FROM f
    WHERE f.fence IS NOT NULL
),
gone AS MATERIALIZED (
    SELECT f.fence FROM f
    LEFT JOIN nodes n ON n.fence = f.fence
    WHERE f.fence <> $1::bigint
      AND (n.fence IS NULL OR n.left_at IS NOT NULL
           OR n.lease_until < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
),
d AS MATERIALIZED (
    SELECT t.key, gone.fence
    FROM gone
    CROSS JOIN LATERAL (
        SELECT o.key FROM runs o
        WHERE o.fence = gone.fence AND o.completed_at IS NULL AND o.status = ANY ($3::text[])
        ORDER BY o.fence
        LIMIT $2::bigint
        FOR UPDATE SKIP LOCKED
    ) t
    LIMIT $2::bigint
)
UPDATE runs r SET fence = $1::bigint
FROM d
WHERE r.key = d.key
RETURNING r.key, r.schedule, r.org, r.version, r.origin, r.nonce, r.scheduled_for, r.fire_at, r.attempt, r.traceparent,
    r.token, r.look_at, d.fence,
    r.status = 'running' AND r.token IS NOT NULL AND r.executor_run_id IS NOT NULL
