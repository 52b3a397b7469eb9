-- Materialized: a plan that asks for the rows twice would find the next ones, the first being held already.
WITH d AS MATERIALIZED (
    SELECT q.key FROM runs q
    WHERE q.queue = $2::text AND q.status = 'enqueued' AND ($1::bigint IS NULL OR q.org = $1::bigint)
    ORDER BY q.fire_at, q.key
    LIMIT $3::bigint
    FOR UPDATE SKIP LOCKED
)
UPDATE runs r SET status = 'running', started_at = $4::bigint, look_at = $5::bigint, token = gen_random_uuid()::text,
    executor_run_id = $6::text
FROM d
WHERE r.key = d.key
RETURNING r.key, r.schedule, r.org, r.version, r.origin, r.nonce, r.scheduled_for, r.fire_at, r.attempt,
    r.traceparent, r.token, r.look_at
