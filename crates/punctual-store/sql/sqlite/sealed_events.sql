-- Seals with the events they stand for, in order; an event past retention is missing.
SELECT l.position, l.seq, l.hash, e.at, e.actor, e.kind, e.schedule, e.run, e.detail
FROM audit_seals AS l
LEFT JOIN audit_events AS e ON e.seq = l.seq AND e.org = l.org
WHERE l.org = ?1 AND l.position > ?2
ORDER BY l.position
LIMIT ?3
