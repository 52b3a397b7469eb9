SELECT r.scheduled_for, NULL::bigint, 1::bigint, r.version
FROM runs r
WHERE r.schedule = $1::bigint AND r.look_at IS NULL AND r.origin = 'tick' AND r.scheduled_for BETWEEN $2::bigint AND $3::bigint
UNION ALL
SELECT o.scheduled_for, NULL::bigint, 1::bigint, o.version
FROM open_runs_of($1::bigint) o
WHERE o.origin = 'tick' AND o.scheduled_for BETWEEN $2::bigint AND $3::bigint
UNION ALL
SELECT g.first, g.last, g.count, g.version
FROM run_ranges g
WHERE g.schedule = $1::bigint AND g.last >= $2::bigint AND g.first <= $3::bigint
