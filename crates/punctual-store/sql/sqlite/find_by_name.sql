-- A living schedule before a deleted one, the latest deleted before earlier ones.
SELECT * FROM schedule_rows WHERE org = ?1 AND name = ?2 ORDER BY deleted_at IS NOT NULL, deleted_at DESC LIMIT 2
