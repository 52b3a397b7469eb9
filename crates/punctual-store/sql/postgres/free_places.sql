UPDATE org_use u SET in_flight = greatest(u.in_flight - d.count, 0)
FROM unnest($1::bigint[], $2::bigint[]) AS d (org, count)
WHERE u.org = d.org
