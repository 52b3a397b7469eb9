-- A breaker that is plainly closed is not kept.
DELETE FROM circuit_breakers WHERE org = ?1 AND target = ?2
