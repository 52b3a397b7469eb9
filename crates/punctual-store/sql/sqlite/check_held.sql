-- Schedules that are held by a run that is not in flight.
SELECT st.schedule, st.active_run
FROM schedule_state AS st
LEFT JOIN runs AS r ON r.key = st.active_run
WHERE st.active_run IS NOT NULL
  AND (r.key IS NULL OR r.schedule <> st.schedule OR r.status NOT IN ('enqueued', 'running'))
LIMIT ?1
