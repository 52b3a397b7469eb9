UPDATE schedules
SET name = $2::text, user_id = $3::text, description = $4::text, tags = $5::text, spec = $6::text, definition = $7::text,
    version = $8::bigint, updated_at = $9::bigint, deleted_at = coalesce($10::bigint, deleted_at)
WHERE key = $1::bigint
