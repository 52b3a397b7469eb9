SELECT count(*) FROM schedules WHERE org = $1::bigint AND deleted_at IS NULL
