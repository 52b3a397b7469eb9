SELECT name, version, body, updated_at FROM {table} WHERE ($1::text IS NULL OR name > $1::text) ORDER BY name LIMIT $2::bigint
