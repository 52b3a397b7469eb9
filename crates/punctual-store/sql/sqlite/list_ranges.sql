-- Stretches that touch a part of the ledger, newest first, after the last one of the page before.
SELECT s.id, s.name, g.first, g.last, g.count, g.status, g.reason, g.detail, g.counts, g.version, g.recorded_at,
       g.schedule
FROM run_ranges AS g
JOIN schedules AS s ON s.key = g.schedule
WHERE (?1 IS NULL OR g.schedule = ?1) AND (?2 IS NULL OR g.org = ?2) AND g.last >= ?3 AND g.first <= ?4
  AND (g.first, g.schedule) < (?5, ?6) AND (?7 IS NULL OR g.status = ?7)
ORDER BY g.first DESC, g.schedule DESC
LIMIT ?8
