SELECT e.seq, e.org, e.at, e.actor, e.kind, e.schedule, e.run, e.detail
FROM orgs o
LEFT JOIN LATERAL (
    SELECT s.seq FROM audit_seals s WHERE s.org = o.key ORDER BY s.seq DESC LIMIT 1
) m ON true
CROSS JOIN LATERAL (
    SELECT a.* FROM audit_events a
    WHERE a.org = o.key AND a.seq > coalesce(m.seq - $2::bigint, 0)
      AND NOT EXISTS (SELECT 1 FROM audit_seals s WHERE s.org = a.org AND s.seq = a.seq)
    ORDER BY a.seq
    LIMIT $1::bigint
) e
ORDER BY e.org, e.seq
LIMIT $1::bigint
