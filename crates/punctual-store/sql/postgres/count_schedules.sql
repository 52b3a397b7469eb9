SELECT s.status, count(*)
FROM schedule_state s
JOIN schedules d ON d.key = s.schedule AND d.deleted_at IS NULL
GROUP BY s.status
