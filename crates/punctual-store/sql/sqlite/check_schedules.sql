-- Living schedules with their cursors, after a key.
SELECT st.schedule, st.version, st.planned_through, st.next_tick, st.spent_at, st.status = 'active', st.admitted,
       st.anchor_start, st.anchor_finish, st.success_count, v.since, st.plan_at IS NOT NULL
FROM schedule_state AS st
JOIN schedules AS s ON s.key = st.schedule
JOIN schedule_versions AS v ON v.schedule = st.schedule AND v.version = st.version
WHERE st.schedule > ?1 AND s.deleted_at IS NULL
ORDER BY st.schedule
LIMIT ?2
