SELECT schedule FROM schedule_uses WHERE kind = $1::text AND name = $2::text ORDER BY schedule
