SELECT 'schedule ' || s.schedule
FROM schedule_state s
LEFT JOIN runs r ON r.key = s.active_run
WHERE s.active_run IS NOT NULL AND coalesce(r.status NOT IN ('enqueued', 'running'), true)
LIMIT $1::bigint
