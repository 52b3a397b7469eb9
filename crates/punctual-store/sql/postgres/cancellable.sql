SELECT r.key, r.org, r.schedule, r.status, r.scheduled_for, r.version
FROM unnest($1::bigint[]) AS d (run)
JOIN runs r ON r.key = d.run
ORDER BY r.key
FOR UPDATE OF r
