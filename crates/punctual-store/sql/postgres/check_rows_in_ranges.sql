SELECT 'run-' || r.key
FROM run_ranges g
JOIN runs r ON r.schedule = g.schedule AND r.look_at IS NULL AND r.scheduled_for BETWEEN g.first AND g.last AND r.origin = 'tick'
UNION ALL
SELECT 'run-' || o.key
FROM run_ranges g
CROSS JOIN LATERAL open_runs_of(g.schedule) o
WHERE o.scheduled_for BETWEEN g.first AND g.last AND o.origin = 'tick'
LIMIT $1::bigint
