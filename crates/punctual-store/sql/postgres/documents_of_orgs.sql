SELECT org, name, version, body, updated_at FROM {table} WHERE org = ANY ($1::bigint[])
