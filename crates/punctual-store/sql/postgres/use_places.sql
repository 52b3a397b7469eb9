UPDATE org_use u
SET per_minute = CASE WHEN u.minute = $3::bigint THEN u.per_minute ELSE 0 END + d.count, minute = $3::bigint,
    in_flight = u.in_flight + d.count
FROM unnest($1::bigint[], $2::bigint[]) AS d (org, count)
WHERE u.org = d.org
