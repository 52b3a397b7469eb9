INSERT INTO audit_seals (org, position, seq, hash)
SELECT d.org, d.position, d.seq, d.hash
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS d (org, position, seq, hash)
