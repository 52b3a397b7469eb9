SELECT key FROM schedules WHERE key = $1::bigint AND deleted_at IS NULL
