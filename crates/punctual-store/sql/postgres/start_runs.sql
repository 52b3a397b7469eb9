UPDATE runs r
SET status = 'enqueued', attempt = d.attempt, look_at = d.look_at, queue = d.queue, fence = $5::bigint,
    enqueued_at = $6::bigint, started_at = NULL, token = d.token, executor_run_id = NULL, reason = NULL,
    detail = NULL, traceparent = coalesce(d.traceparent, r.traceparent)
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $8::text[], $9::text[])
     AS d (run, attempt, look_at, queue, traceparent, token)
WHERE r.key = d.run AND r.attempt = d.attempt - 1 AND r.status = ANY ($7::text[])
RETURNING r.key
