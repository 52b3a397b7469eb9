SELECT g.schedule, s.id, s.name, g.first, g.last, g.count, g.status, g.reason, g.detail, g.counts, g.version, g.recorded_at
FROM run_ranges g
JOIN schedules s ON s.key = g.schedule
WHERE ($1::bigint IS NULL OR (g.first, g.schedule) < ($1::bigint, $2::bigint))
  AND ($3::text IS NULL OR s.id = $3::text)
  AND ($4::text IS NULL OR g.status = $4::text)
  AND ($5::bigint IS NULL OR g.last >= $5::bigint)
  AND ($6::bigint IS NULL OR g.first <= $6::bigint)
ORDER BY g.first DESC, g.schedule DESC
LIMIT $7::bigint
