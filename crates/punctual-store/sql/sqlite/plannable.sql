-- Schedules whose next unplanned tick is inside the horizon, nearest first.
SELECT s.key, s.org, s.dialect, s.spec, s.timezone, s.id, st.version, st.planned_through, st.decided_through,
       s.created_at
FROM schedule_state AS st
JOIN schedules AS s ON s.key = st.schedule
WHERE st.next_tick <= ?1
ORDER BY st.next_tick
LIMIT ?2
