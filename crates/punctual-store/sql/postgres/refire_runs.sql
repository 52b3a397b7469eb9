UPDATE runs r SET fire_at = d.fire_at, look_at = d.fire_at
FROM unnest($1::bigint[], $2::bigint[]) AS d (run, fire_at)
WHERE r.key = d.run AND r.status = $3::text
