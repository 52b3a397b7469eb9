SELECT 'schedule ' || o.schedule
FROM (
    SELECT g.schedule, g.first, lag(g.last) OVER (PARTITION BY g.schedule ORDER BY g.first) AS before FROM run_ranges g
) o
WHERE o.first <= o.before
LIMIT $1::bigint
