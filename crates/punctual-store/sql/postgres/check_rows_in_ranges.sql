SELECT 'run-' || r.key
FROM run_ranges g
JOIN runs r ON r.schedule = g.schedule AND r.scheduled_for BETWEEN g.first AND g.last AND r.origin = 'tick'
LIMIT $1::bigint
