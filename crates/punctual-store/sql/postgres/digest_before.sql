-- The range before, if it is a digest.
SELECT g.first, g.last, g.org, g.version, g.counts
FROM (
    SELECT * FROM run_ranges a WHERE a.schedule = $1::bigint AND a.first < $2::bigint ORDER BY a.first DESC LIMIT 1
) g
WHERE g.counts IS NOT NULL AND g.last < $2::bigint
