SELECT count(*) FROM audit_events e
WHERE e.org = $1::bigint AND NOT EXISTS (SELECT 1 FROM audit_seals s WHERE s.org = e.org AND s.seq = e.seq)
