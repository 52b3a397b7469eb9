INSERT INTO {table} (org, name, version, body, updated_at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (org, name) DO UPDATE
SET version = excluded.version, body = excluded.body, updated_at = excluded.updated_at
