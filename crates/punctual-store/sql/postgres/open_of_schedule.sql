SELECT r.key, r.attempt, r.scheduled_for FROM runs r
WHERE r.schedule = $1::bigint AND r.look_at IS NOT NULL AND r.status = ANY ($2::text[])
ORDER BY r.key
