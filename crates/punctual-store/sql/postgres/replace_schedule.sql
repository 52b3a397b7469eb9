UPDATE schedules
SET name = $2::text, user_id = $3::text, description = $4::text, tags = $5::text, spec = $6::text, version = $7::bigint,
    updated_at = $8::bigint, deleted_at = coalesce($9::bigint, deleted_at)
WHERE key = $1::bigint
