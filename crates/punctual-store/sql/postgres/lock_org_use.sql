SELECT u.org, u.minute, u.per_minute, u.in_flight, (SELECT l.body FROM limits l WHERE l.org = u.org AND l.name = 'org')
FROM unnest($1::bigint[]) AS d (org)
JOIN org_use u ON u.org = d.org
ORDER BY u.org
FOR UPDATE OF u
