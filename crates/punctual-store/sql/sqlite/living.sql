SELECT count(*) FROM schedules WHERE deleted_at IS NULL AND (?1 IS NULL OR org = ?1)
