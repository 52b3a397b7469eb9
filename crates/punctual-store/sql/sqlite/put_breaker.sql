INSERT INTO circuit_breakers (org, target, state, failures, until, probe, changed_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (org, target) DO UPDATE
SET changed_at = CASE WHEN state = excluded.state THEN changed_at ELSE excluded.changed_at END,
    state = excluded.state, failures = excluded.failures, until = excluded.until, probe = excluded.probe
