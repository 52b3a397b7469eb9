SELECT s.schedule, s.version, s.planned_through, s.next_tick, v.since, s.spent_at, s.admitted
FROM schedule_state s
JOIN schedule_versions v ON v.schedule = s.schedule AND v.version = s.version
WHERE s.schedule > $1::bigint AND s.status = 'active' AND s.left_at IS NULL
ORDER BY s.schedule
LIMIT $2::bigint
