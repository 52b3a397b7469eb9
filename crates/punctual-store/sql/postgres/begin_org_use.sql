-- Counted if nobody has kept count yet.
INSERT INTO org_use (org, minute, per_minute, in_flight)
SELECT d.org, $2::bigint, 0, (
    SELECT count(*) FROM runs r
    WHERE r.org = d.org AND r.fence IS NOT NULL AND r.completed_at IS NULL AND r.status = ANY ($3::text[])
)
FROM unnest($1::bigint[]) AS d (org)
WHERE NOT EXISTS (SELECT 1 FROM org_use u WHERE u.org = d.org)
ON CONFLICT (org) DO NOTHING
