-- How a follower stands: a run of one that is not active ends with the reason of its status.
SELECT st.org, st.version, st.shard, st.status, st.status_detail, st.left_at, s.deleted_at
FROM schedule_state AS st
JOIN schedules AS s ON s.key = st.schedule
WHERE st.schedule = ?1
