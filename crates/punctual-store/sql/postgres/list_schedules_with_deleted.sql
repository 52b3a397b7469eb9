-- The same of living and deleted ones.
SELECT * FROM schedule_rows d
WHERE ($1::text IS NULL OR (d.name, d.key) > ($1::text, $2::bigint))
  AND ($3::text IS NULL OR d.name ILIKE $3::text OR d.description ILIKE $3::text OR d.spec ILIKE $3::text)
  AND ($4::text IS NULL OR d.tags LIKE $4::text)
  AND ($5::text IS NULL OR d.status = $5::text)
  AND ($6::text IS NULL OR d.user_id = $6::text)
  AND ($7::text IS NULL OR d.declared_set = $7::text)
ORDER BY d.name, d.key
LIMIT $8::bigint
