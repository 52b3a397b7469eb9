-- The range before each, if it is a digest.
SELECT d.schedule, g.first, g.last, g.org, g.version, g.counts
FROM unnest($1::bigint[], $2::bigint[]) AS d (schedule, first)
CROSS JOIN LATERAL (
    SELECT a.* FROM run_ranges a WHERE a.schedule = d.schedule AND a.first < d.first ORDER BY a.first DESC LIMIT 1
) g
WHERE g.counts IS NOT NULL AND g.last < d.first
