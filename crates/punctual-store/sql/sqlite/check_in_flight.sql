-- Runs in flight, with what their schedules hold.
SELECT r.key, r.schedule, st.version, r.is_forced, st.active_run,
       EXISTS (SELECT 1 FROM lanes AS l WHERE l.run = r.key)
FROM runs AS r INDEXED BY runs_busy
JOIN schedule_state AS st ON st.schedule = r.schedule
WHERE (r.status = 'enqueued' OR r.status = 'running' OR r.status = 'waiting' OR r.status = 'retrying')
  AND (r.status = 'enqueued' OR r.status = 'running')
LIMIT ?1
