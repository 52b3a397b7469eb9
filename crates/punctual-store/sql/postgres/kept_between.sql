SELECT r.scheduled_for FROM runs r
WHERE r.schedule = $1::bigint AND r.origin = 'tick'
  AND r.scheduled_for BETWEEN coalesce((SELECT max(g.last) FROM run_ranges g WHERE g.schedule = $1::bigint AND g.first < $2::bigint), 0)
                          AND $3::bigint
UNION ALL
SELECT g.first FROM run_ranges g WHERE g.schedule = $1::bigint AND g.first BETWEEN $2::bigint AND $3::bigint
