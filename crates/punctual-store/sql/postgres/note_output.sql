INSERT INTO attempts (run, number, org, started_at, output)
SELECT r.key, r.attempt, r.org, r.started_at, d.output
FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS d (run, attempt, output)
JOIN runs r ON r.key = d.run AND r.attempt = d.attempt AND r.fence = $4::bigint AND r.status = ANY ($5::text[])
ON CONFLICT (run, number) DO UPDATE SET output = excluded.output
