SELECT r.key, r.schedule, r.version, r.origin, r.nonce, r.scheduled_for, r.fire_at, r.status, r.reason, r.detail, r.attempt,
       r.wait_kind, r.wait_for, r.wait_since, r.wait_until, r.enqueued_at, r.started_at, r.completed_at,
       r.executor_run_id, r.look_at, s.id, s.name, n.id, tz.version, a.output, r.payload, r.traceparent
FROM runs AS r
JOIN schedules AS s ON s.key = r.schedule
LEFT JOIN nodes AS n ON n.fence = r.fence
LEFT JOIN tz_versions AS tz ON tz.key = r.tz
LEFT JOIN attempts AS a ON a.run = r.key AND a.number = r.attempt
WHERE r.key = ?1 AND (?2 IS NULL OR r.org = ?2)
