SELECT * FROM schedule_rows
WHERE key = coalesce(
    (SELECT l.key FROM schedules l WHERE l.name = $1::text AND l.deleted_at IS NULL LIMIT 1),
    (SELECT h.key FROM schedules h WHERE h.name = $1::text AND h.deleted_at IS NOT NULL ORDER BY h.deleted_at DESC LIMIT 1)
)
