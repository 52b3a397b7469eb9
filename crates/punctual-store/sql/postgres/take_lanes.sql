INSERT INTO lanes (org, key, run)
SELECT d.org, d.key, d.run FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS d (org, key, run)
ON CONFLICT (org, key) DO NOTHING
RETURNING run
