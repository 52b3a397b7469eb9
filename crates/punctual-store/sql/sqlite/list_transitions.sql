SELECT target, at, from_state, to_state, run
FROM circuit_breaker_transitions
WHERE org IN (SELECT key FROM orgs WHERE ?1 IS NULL OR key = ?1) AND target = ?2
ORDER BY seq DESC
LIMIT ?3
