SELECT name, version, body, updated_at FROM {table} WHERE org IN (SELECT key FROM orgs WHERE ?1 IS NULL OR key = ?1) AND name = ?2
