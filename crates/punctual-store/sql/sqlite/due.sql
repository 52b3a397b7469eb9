-- Armed rows whose instant has come, oldest first, with what their launch needs.
SELECT r.key, r.schedule, r.scheduled_for, r.fire_at, st.active_run, s.id, s.name, s.target, r.reason,
       r.detail, r.org, r.origin
FROM runs AS r
JOIN schedule_state AS st ON st.schedule = r.schedule
JOIN schedules AS s ON s.key = r.schedule
WHERE r.status = 'scheduled' AND r.fire_at <= ?1
ORDER BY r.fire_at
LIMIT ?2
