-- The events of each org that have no seal, oldest first. Those that were committed late lie among the last that have one, so
-- these are held against their seals, both from the index alone. No more than so many can have one: what is looked through is
-- bounded, however much waits. The limit of one keeps the events behind the list of those that are wanted: the other way round
-- the list would be made anew for each event.
SELECT e.seq, e.org, e.at, e.actor, e.kind, e.schedule, e.run, e.detail
FROM orgs o
LEFT JOIN LATERAL (
    SELECT s.seq FROM audit_seals s WHERE s.org = o.key ORDER BY s.seq DESC LIMIT 1
) m ON true
CROSS JOIN LATERAL (
    (SELECT a.seq FROM audit_events a
     WHERE a.org = o.key AND a.seq > coalesce(m.seq - $2::bigint, 0)
     ORDER BY a.seq
     LIMIT $1::bigint + $2::bigint)
    EXCEPT
    SELECT s.seq FROM audit_seals s WHERE s.org = o.key AND s.seq > coalesce(m.seq - $2::bigint, 0)
    ORDER BY seq
    LIMIT $1::bigint
) u
JOIN LATERAL (SELECT a.* FROM audit_events a WHERE a.org = o.key AND a.seq = u.seq LIMIT 1) e ON true
ORDER BY e.org, e.seq
LIMIT $1::bigint
