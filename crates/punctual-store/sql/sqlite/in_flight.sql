SELECT r.key, r.schedule, r.scheduled_for, r.fire_at, r.attempt, s.id, s.name, s.target
FROM runs AS r
JOIN schedules AS s ON s.key = r.schedule
WHERE r.status IN ('enqueued', 'running') AND r.fence = ?1
ORDER BY r.fire_at
