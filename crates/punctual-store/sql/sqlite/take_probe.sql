UPDATE circuit_breakers SET state = 'half_open', probe = ?3, until = NULL, changed_at = ?4
WHERE org = ?1 AND target = ?2 AND state = 'open'
