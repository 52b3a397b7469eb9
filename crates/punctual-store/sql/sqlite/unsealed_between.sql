-- Events that lie among the sealed ones without a seal of their own.
SELECT min(e.seq)
FROM audit_events AS e
WHERE e.org = ?1 AND e.seq <= ?2 AND NOT EXISTS (SELECT 1 FROM audit_seals AS l WHERE l.org = ?1 AND l.seq = e.seq)
