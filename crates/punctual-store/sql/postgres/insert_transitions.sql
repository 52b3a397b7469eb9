INSERT INTO circuit_breaker_transitions (org, target, at, from_state, to_state, run)
SELECT d.org, d.target, $3::bigint, d.from_state, d.to_state, d.run
FROM unnest($1::bigint[], $2::text[], $4::text[], $5::text[], $6::bigint[]) AS d (org, target, from_state, to_state, run)
