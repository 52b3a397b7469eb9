SELECT state, failures, until, probe, target, changed_at
FROM circuit_breakers
WHERE org IN (SELECT key FROM orgs WHERE ?1 IS NULL OR key = ?1) AND (state <> 'closed' OR failures > 0)
ORDER BY org, target
