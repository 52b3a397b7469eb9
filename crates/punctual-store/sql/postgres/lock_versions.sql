SELECT s.schedule, s.org, s.version
FROM unnest($1::bigint[]) AS d (schedule)
JOIN schedule_state s ON s.schedule = d.schedule
WHERE s.status = $2::text AND s.left_at IS NULL
ORDER BY s.schedule
FOR UPDATE OF s
