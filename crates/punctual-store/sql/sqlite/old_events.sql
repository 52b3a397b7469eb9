-- The oldest events, each with whether it may go: it is past its time and sealed.
SELECT e.seq, e.at < ?1 AND EXISTS (SELECT 1 FROM audit_seals AS l WHERE l.org = e.org AND l.seq = e.seq)
FROM audit_events AS e
ORDER BY e.seq
LIMIT ?2
