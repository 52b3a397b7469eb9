-- What is counted must be what the rows say, unless retention took some.
SELECT 'schedule ' || s.schedule
FROM schedule_state s
JOIN schedules d ON d.key = s.schedule AND d.deleted_at IS NULL
LEFT JOIN (
    SELECT r.schedule, count(*) AS succeeded FROM runs r WHERE r.status = 'success' GROUP BY r.schedule
) c ON c.schedule = s.schedule
WHERE s.success_count <> coalesce(c.succeeded, 0)
  AND NOT EXISTS (SELECT 1 FROM run_ranges g WHERE g.schedule = s.schedule AND g.counts IS NOT NULL)
LIMIT $1::bigint
