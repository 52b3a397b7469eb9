-- A living schedule before a deleted one, the latest deleted before earlier ones.
SELECT * FROM schedule_rows
WHERE org IN (SELECT key FROM orgs WHERE ?1 IS NULL OR key = ?1) AND name = ?2
ORDER BY deleted_at IS NOT NULL, deleted_at DESC, key DESC
LIMIT 1
