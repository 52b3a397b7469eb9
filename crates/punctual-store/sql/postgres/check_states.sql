SELECT 'schedule ' || s.key
FROM schedules s
LEFT JOIN schedule_state t ON t.schedule = s.key
WHERE t.version IS DISTINCT FROM s.version OR t.org IS DISTINCT FROM s.org
LIMIT $1::bigint
