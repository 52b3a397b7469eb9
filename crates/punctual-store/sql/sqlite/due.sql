-- Rows that want to be looked at, oldest first, with how their schedules stand.
SELECT r.key, r.schedule, r.org, r.status, r.origin, r.nonce, r.scheduled_for, r.fire_at, r.attempt, r.version,
       r.is_forced, r.reason, r.detail, r.wait_kind, r.wait_for, r.wait_since, r.wait_until, r.fence,
       st.version, st.admitted, r.look_at, r.traceparent
FROM runs AS r
JOIN schedule_state AS st ON st.schedule = r.schedule
WHERE r.look_at <= ?1 AND (?2 IS NULL OR r.shard IN (SELECT value FROM json_each(?2)))
ORDER BY r.look_at
LIMIT ?3
