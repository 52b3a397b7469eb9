SELECT org, target, state, failures, until, probe, changed_at
FROM circuit_breakers
WHERE state <> 'closed' OR failures > 0
ORDER BY target
