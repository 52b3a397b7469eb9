SELECT s.id, s.name, g.first, g.last, g.count, g.status, g.reason, g.detail
FROM run_ranges AS g
JOIN schedules AS s ON s.key = g.schedule
WHERE g.org = ?1 AND g.schedule = ?2 AND g.last >= ?3 AND g.first <= ?4
ORDER BY g.first DESC
LIMIT ?5
