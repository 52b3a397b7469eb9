INSERT INTO schedules (org, id, name, user_id, description, tags, spec, declared_set, version, created_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10)
