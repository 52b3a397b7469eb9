-- A plainly closed breaker has no row.
DELETE FROM circuit_breakers WHERE org = $1::bigint AND target = $2::text
RETURNING org, target, state, failures, until, probe
