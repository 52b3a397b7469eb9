-- The seal of each event is looked for in the order of events: the only index that has it finds it at once, whatever the
-- statistics say of a table that has just been empty.
SELECT e.seq, e.org, e.at, e.actor, e.kind, e.schedule, e.run, e.detail
FROM orgs o
LEFT JOIN LATERAL (
    SELECT s.seq FROM audit_seals s WHERE s.org = o.key ORDER BY s.seq DESC LIMIT 1
) m ON true
CROSS JOIN LATERAL (
    SELECT a.* FROM audit_events a
    LEFT JOIN LATERAL (
        SELECT s.seq FROM audit_seals s WHERE s.org = a.org AND s.seq >= a.seq ORDER BY s.seq LIMIT 1
    ) n ON true
    WHERE a.org = o.key AND a.seq > coalesce(m.seq - $2::bigint, 0) AND n.seq IS DISTINCT FROM a.seq
    ORDER BY a.seq
    LIMIT $1::bigint
) e
ORDER BY e.org, e.seq
LIMIT $1::bigint
