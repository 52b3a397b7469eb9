-- Living schedules with their cursors, after a key. What has ended and is not counted yet is told by its rows.
SELECT st.schedule, st.version, st.planned_through, st.next_tick, st.spent_at, st.status = 'active', st.admitted,
       st.anchor_start, st.anchor_finish,
       st.success_count + (SELECT count(*) FROM runs AS r
                           WHERE r.schedule = st.schedule AND r.scheduled_for > coalesce(st.launched_through, -9223372036854775808)
                             AND r.origin = 'tick' AND r.status = 'success'),
       v.since, st.plan_at IS NOT NULL
FROM schedule_state AS st
JOIN schedules AS s ON s.key = st.schedule
JOIN schedule_versions AS v ON v.schedule = st.schedule AND v.version = st.version
WHERE st.schedule > ?1 AND s.deleted_at IS NULL
ORDER BY st.schedule
LIMIT ?2
