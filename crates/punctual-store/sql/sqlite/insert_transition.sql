INSERT INTO circuit_breaker_transitions (org, target, at, from_state, to_state, run) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
