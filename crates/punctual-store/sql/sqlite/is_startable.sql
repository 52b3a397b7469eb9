-- Whether a first start finds its row as it was judged, and its lane free if it needs that.
SELECT 1
FROM runs AS r
JOIN schedule_state AS st ON st.schedule = r.schedule
WHERE r.key = ?1 AND r.attempt = 0 AND r.status = 'scheduled' AND (st.active_run IS NULL OR NOT ?2)
