-- Events, newest first, after the last one of the page before.
SELECT e.seq, e.at, e.actor, e.kind, s.id, e.run, e.detail, l.position, l.hash
FROM audit_events AS e
LEFT JOIN schedules AS s ON s.key = e.schedule
LEFT JOIN audit_seals AS l ON l.org = e.org AND l.seq = e.seq
WHERE (?1 IS NULL OR e.org = ?1) AND e.seq < ?2
  AND (?3 IS NULL OR e.schedule = ?3) AND (?4 IS NULL OR e.run = ?4)
  AND (?5 IS NULL OR substr(e.kind, 1, length(?5)) = ?5)
  AND e.at >= ?6 AND e.at <= ?7
ORDER BY e.seq DESC
LIMIT ?8
