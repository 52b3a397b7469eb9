SELECT at, from_state, to_state, run FROM circuit_breaker_transitions WHERE target = $1::text ORDER BY seq DESC LIMIT $2::bigint
