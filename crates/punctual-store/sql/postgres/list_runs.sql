-- The ledger of all schedules, newest tick first, after the last row of the page before.
SELECT r.key, r.schedule, r.org, r.version, r.origin, r.nonce, r.scheduled_for, r.fire_at, r.attempt, r.status, r.reason,
       r.detail, r.wait_kind, r.wait_for, r.wait_since, r.wait_until, r.is_forced, r.fence, r.look_at, r.enqueued_at,
       r.started_at, r.completed_at, r.executor_run_id, s.id, s.name, t.version, r.payload, r.traceparent
FROM runs r
JOIN schedules s ON s.key = r.schedule
LEFT JOIN tz_versions t ON t.key = r.tz
WHERE ($1::bigint IS NULL OR (r.scheduled_for, r.key) < ($1::bigint, $2::bigint))
  AND ($3::text IS NULL OR r.status = $3::text)
  AND ($4::text IS NULL OR r.origin = $4::text)
  AND ($5::bigint IS NULL OR r.scheduled_for >= $5::bigint)
  AND ($6::bigint IS NULL OR r.scheduled_for <= $6::bigint)
ORDER BY r.scheduled_for DESC, r.key DESC
LIMIT $7::bigint
