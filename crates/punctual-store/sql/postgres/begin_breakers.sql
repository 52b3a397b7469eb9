INSERT INTO circuit_breakers (org, target, state, failures, changed_at)
SELECT d.org, d.target, 'closed', 0, 0 FROM unnest($1::bigint[], $2::text[]) AS d (org, target)
ON CONFLICT (org, target) DO NOTHING
