-- As `lock_settling`, of those that nobody else holds.
SELECT r.key, r.schedule, r.org, r.status, r.attempt, r.fence, r.version, r.token, r.origin, r.scheduled_for, r.started_at
FROM unnest($1::bigint[]) AS d (run)
JOIN runs r ON r.key = d.run
ORDER BY r.key
FOR UPDATE OF r SKIP LOCKED
