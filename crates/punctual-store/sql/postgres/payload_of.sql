SELECT key, payload FROM runs WHERE key = ANY ($1::bigint[]) AND payload IS NOT NULL
