SELECT st.status, count(*)
FROM schedule_state AS st
JOIN schedules AS s ON s.key = st.schedule
WHERE (?1 IS NULL OR st.org = ?1) AND s.deleted_at IS NULL
GROUP BY st.status
