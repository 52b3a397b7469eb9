UPDATE schedules
SET name = ?2, user_id = ?3, description = ?4, tags = ?5, spec = ?6, version = ?7, updated_at = ?8
WHERE key = ?1
