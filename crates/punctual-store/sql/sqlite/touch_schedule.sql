UPDATE schedules SET updated_at = ?2, deleted_at = ?3 WHERE key = ?1
