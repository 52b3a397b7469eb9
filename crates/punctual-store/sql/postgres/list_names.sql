-- The names of an org's schedules, living and deleted, after the last one of the page before.
SELECT d.key, d.id, d.name, d.declared_set, d.deleted_at IS NOT NULL
FROM schedules d
WHERE $1::text IS NULL OR (d.name, d.key) > ($1::text, $2::bigint)
ORDER BY d.name, d.key
LIMIT $3::bigint
