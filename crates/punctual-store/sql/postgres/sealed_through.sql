-- How far each org is sealed, and how many events wait, as far as anybody cares: after a bulk there are very many, and this is
-- asked at each step.
SELECT o.key, coalesce(m.position, 0), u.count
FROM orgs o
LEFT JOIN LATERAL (SELECT s.position FROM audit_seals s WHERE s.org = o.key ORDER BY s.position DESC LIMIT 1) m ON true
CROSS JOIN LATERAL (
    SELECT count(*)
    FROM (
        SELECT FROM audit_events e
        WHERE e.org = o.key
          AND e.seq > coalesce((SELECT s.seq FROM audit_seals s WHERE s.org = o.key ORDER BY s.seq DESC LIMIT 1), 0)
        LIMIT 10000
    ) w
) u
WHERE m.position IS NOT NULL OR u.count > 0
ORDER BY o.key
