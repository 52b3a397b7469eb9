INSERT INTO circuit_breakers (org, target, state, failures, until, probe, changed_at)
SELECT d.org, d.target, d.state, d.failures, d.until, d.probe, $7::bigint
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
    AS d (org, target, state, failures, until, probe)
ON CONFLICT (org, target) DO UPDATE
SET state = excluded.state, failures = excluded.failures, until = excluded.until, probe = excluded.probe,
    changed_at = excluded.changed_at
