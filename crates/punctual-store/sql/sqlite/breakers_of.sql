SELECT org, state FROM circuit_breakers WHERE org IN (SELECT key FROM orgs WHERE ?1 IS NULL OR key = ?1) AND target = ?2
