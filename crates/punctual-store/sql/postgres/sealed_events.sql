SELECT e.seq, e.org, e.at, e.actor, e.kind, e.schedule, e.run, e.detail, s.position, s.seq, s.hash
FROM audit_seals s
LEFT JOIN audit_events e ON e.org = s.org AND e.seq = s.seq
WHERE s.org = $1::bigint AND s.position > $2::bigint
ORDER BY s.position
LIMIT $3::bigint
