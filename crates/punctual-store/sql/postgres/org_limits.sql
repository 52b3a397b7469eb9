-- What is in flight is counted if nobody has kept count yet.
SELECT l.org, l.body, u.minute, u.per_minute, coalesce(u.in_flight, (
    SELECT count(*) FROM runs r
    WHERE r.org = d.org AND r.fence IS NOT NULL AND r.completed_at IS NULL AND r.status = ANY ($2::text[])
))
FROM unnest($1::bigint[]) AS d (org)
JOIN limits l ON l.org = d.org AND l.name = 'org'
LEFT JOIN org_use u ON u.org = d.org
