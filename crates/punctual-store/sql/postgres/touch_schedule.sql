UPDATE schedules SET updated_at = $2::bigint, deleted_at = coalesce($3::bigint, deleted_at) WHERE key = $1::bigint
