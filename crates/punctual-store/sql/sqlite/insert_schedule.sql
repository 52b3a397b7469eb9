INSERT INTO schedules (org, id, name, dialect, spec, timezone, target, version, created_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8, ?8)
