SELECT count(*) FROM schedules WHERE deleted_at IS NULL
