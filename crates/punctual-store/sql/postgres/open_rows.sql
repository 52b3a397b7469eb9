SELECT r.key, r.schedule, r.org, r.version, r.origin, r.nonce, r.scheduled_for, r.fire_at, r.attempt, r.status, r.reason,
       r.detail, r.wait_kind, r.wait_for, r.wait_since, r.wait_until, r.is_forced, r.fence, r.look_at, r.enqueued_at,
       r.started_at, r.completed_at, r.executor_run_id, s.id, s.name, t.version, r.payload, r.traceparent
FROM open_runs_of($1::bigint) r
JOIN schedules s ON s.key = r.schedule
LEFT JOIN tz_versions t ON t.key = r.tz
WHERE r.status = ANY ($2::text[])
ORDER BY r.scheduled_for, r.key
