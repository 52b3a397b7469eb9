SELECT count(*) FROM schedules WHERE org = ?1 AND deleted_at IS NULL
