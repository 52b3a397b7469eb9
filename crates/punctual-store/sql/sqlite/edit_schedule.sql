UPDATE schedules
SET name = ?2, user_id = ?3, description = ?4, tags = ?5, spec = ?6, definition = ?7, version = ?8, updated_at = ?9
WHERE key = ?1
