-- What ended well under the fence of its node is written by the statement that holds it, in the order of keys. The rows are
-- given as they were held, except that one which was marked as running is said to be enqueued: both are in flight.
UPDATE runs r
SET status = 'success', reason = NULL, detail = NULL, look_at = NULL, started_at = coalesce(d.started_at, r.started_at),
    completed_at = d.at
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
    AS d (run, attempt, fence, started_at, at)
WHERE r.key = d.run AND r.attempt = d.attempt AND r.fence = d.fence AND r.status = ANY ($6::text[])
RETURNING r.key, r.schedule, r.org, 'enqueued'::text, r.attempt, r.fence, r.version, r.token, r.origin, r.scheduled_for,
    r.started_at
