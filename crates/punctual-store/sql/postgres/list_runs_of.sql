-- The ledger of one schedule, newest tick first, after the last row of the page before.
SELECT r.key, r.schedule, r.org, r.version, r.origin, r.nonce, r.scheduled_for, r.fire_at, r.attempt, r.status, r.reason,
       r.detail, r.wait_kind, r.wait_for, r.wait_since, r.wait_until, r.is_forced, r.fence, r.look_at, r.enqueued_at,
       r.started_at, r.completed_at, r.executor_run_id, s.id, s.name, t.version, r.payload, r.traceparent
FROM schedules s
CROSS JOIN LATERAL (
    SELECT o.* FROM (
        (
            SELECT e.* FROM runs e
            WHERE e.schedule = s.key AND e.look_at IS NULL
              AND ($1::bigint IS NULL OR (e.scheduled_for, e.key) < ($1::bigint, $2::bigint))
              AND ($4::text IS NULL OR e.status = $4::text)
              AND ($5::text IS NULL OR e.origin = $5::text)
              AND ($6::bigint IS NULL OR e.scheduled_for >= $6::bigint)
              AND ($7::bigint IS NULL OR e.scheduled_for <= $7::bigint)
            ORDER BY e.scheduled_for DESC, e.key DESC
            LIMIT $8::bigint
        )
        UNION ALL
        SELECT m.* FROM open_runs_of(s.key) m
    ) o
    WHERE ($1::bigint IS NULL OR (o.scheduled_for, o.key) < ($1::bigint, $2::bigint))
      AND ($4::text IS NULL OR o.status = $4::text)
      AND ($5::text IS NULL OR o.origin = $5::text)
      AND ($6::bigint IS NULL OR o.scheduled_for >= $6::bigint)
      AND ($7::bigint IS NULL OR o.scheduled_for <= $7::bigint)
    ORDER BY o.scheduled_for DESC, o.key DESC
    LIMIT $8::bigint
) r
LEFT JOIN tz_versions t ON t.key = r.tz
WHERE s.id = $3::text
ORDER BY r.scheduled_for DESC, r.key DESC
LIMIT $8::bigint
