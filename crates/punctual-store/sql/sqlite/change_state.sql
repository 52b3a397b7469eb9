-- Where a schedule stands, for a change.
SELECT st.org, st.version, st.planned_through, st.decided_through, st.launched_through, s.deleted_at, st.spent_at,
       st.admitted, st.anchor_start, st.anchor_finish, st.status = 'active' AND st.left_at IS NULL, st.shard
FROM schedule_state AS st
JOIN schedules AS s ON s.key = st.schedule
WHERE st.schedule = ?1
