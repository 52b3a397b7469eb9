SELECT state, failures, until, probe FROM circuit_breakers WHERE org = ?1 AND target = ?2
