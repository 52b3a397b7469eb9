DELETE FROM runs WHERE key = ANY ($1::bigint[])
