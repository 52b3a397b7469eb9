-- The ledger of one schedule, newest tick first.
SELECT r.key, s.id, s.name, r.origin, r.scheduled_for, r.fire_at, r.status, r.reason, r.detail, r.version,
       r.attempt, r.enqueued_at, r.started_at, r.completed_at, r.output, n.id
FROM runs AS r
JOIN schedules AS s ON s.key = r.schedule
LEFT JOIN nodes AS n ON n.fence = r.fence
WHERE s.org = ?1 AND r.schedule = ?2 AND r.scheduled_for >= ?3 AND r.scheduled_for <= ?4
ORDER BY r.scheduled_for DESC, r.key DESC
LIMIT ?5
