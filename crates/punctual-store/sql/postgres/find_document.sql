SELECT name, version, body, updated_at FROM {table} WHERE name = $1::text
