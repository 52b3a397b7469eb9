-- One row that wants to be looked at.
SELECT r.key, r.schedule, r.org, r.status, r.origin, r.nonce, r.scheduled_for, r.fire_at, r.attempt, r.version,
       r.is_forced, r.reason, r.detail, r.wait_kind, r.wait_for, r.wait_since, r.wait_until, r.fence,
       st.version, st.admitted, r.look_at, r.traceparent
FROM runs AS r
JOIN schedule_state AS st ON st.schedule = r.schedule
WHERE r.key = ?1
