UPDATE runs r SET status = 'running', started_at = d.at
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS d (run, attempt, at)
WHERE r.key = d.run AND r.attempt = d.attempt AND r.fence = $4::bigint AND r.status = $5::text
RETURNING r.key
