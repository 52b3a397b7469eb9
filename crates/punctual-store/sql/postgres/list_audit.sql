SELECT e.seq, e.at, e.actor, e.kind, s.id, e.run, e.detail, l.position, l.hash
FROM audit_events e
LEFT JOIN schedules s ON s.key = e.schedule
LEFT JOIN audit_seals l ON l.org = e.org AND l.seq = e.seq
WHERE ($1::bigint IS NULL OR e.seq < $1::bigint)
  AND ($2::text IS NULL OR s.id = $2::text)
  AND ($3::bigint IS NULL OR e.run = $3::bigint)
  AND ($4::text IS NULL OR e.kind LIKE $4::text)
  AND ($5::bigint IS NULL OR e.at >= $5::bigint)
  AND ($6::bigint IS NULL OR e.at <= $6::bigint)
ORDER BY e.seq DESC
LIMIT $7::bigint
