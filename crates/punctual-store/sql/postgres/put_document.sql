INSERT INTO {table} AS t (org, name, version, body, updated_at)
SELECT $1::bigint, $2::text, 1, $3::text, $4::bigint
WHERE coalesce($5::bigint, 0) = 0
   OR EXISTS (SELECT 1 FROM {table} o WHERE o.org = $1::bigint AND o.name = $2::text AND o.version = $5::bigint)
ON CONFLICT (org, name) DO UPDATE SET version = t.version + 1, body = excluded.body, updated_at = excluded.updated_at
WHERE $5::bigint IS NULL OR t.version = $5::bigint
RETURNING name, version, body, updated_at
