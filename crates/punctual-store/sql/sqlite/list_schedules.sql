SELECT * FROM schedule_rows WHERE org = ?1 AND deleted_at IS NULL ORDER BY name LIMIT ?2
