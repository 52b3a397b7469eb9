SELECT name, version, body, updated_at FROM {table} WHERE org = ?1 ORDER BY name
