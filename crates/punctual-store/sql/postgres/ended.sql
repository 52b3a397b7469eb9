-- Attempts in hand that are over, or somebody else's.
SELECT d.run
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS d (run, attempt, fence)
LEFT JOIN runs r ON r.key = d.run AND r.attempt = d.attempt AND r.fence = d.fence AND r.status = ANY ($4::text[])
WHERE r.key IS NULL
