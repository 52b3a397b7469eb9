-- The names of an org's schedules, living and deleted, after the last one of the page before.
SELECT key, id, name, declared_set, deleted_at IS NOT NULL
FROM schedules
WHERE org = ?1 AND name >= ?2 AND (name > ?2 OR key > ?3)
ORDER BY name, key
LIMIT ?4
