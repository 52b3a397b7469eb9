-- All rows that are in flight or wait for their turn, with their schedules' present versions.
SELECT r.key, r.status, r.wait_kind, r.scheduled_for, r.attempt, r.wait_since, r.schedule, r.org, st.version
FROM runs AS r INDEXED BY runs_busy
JOIN schedule_state AS st ON st.schedule = r.schedule
WHERE (r.status = 'enqueued' OR r.status = 'running' OR r.status = 'waiting' OR r.status = 'retrying')
  AND r.status <> 'retrying'
