UPDATE schedules SET deleted_at = ?2, updated_at = ?2, version = version + 1 WHERE key = ?1 AND deleted_at IS NULL
