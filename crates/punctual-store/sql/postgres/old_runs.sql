-- Through the unique key, which begins with the time; the walk goes on where it stopped, beyond what it removed or kept.
SELECT r.key, r.schedule, r.scheduled_for, r.org, r.version, r.status, r.origin
FROM runs r
WHERE r.scheduled_for < $1::bigint AND r.look_at IS NULL
  AND (r.status <> 'failed' OR r.scheduled_for < $2::bigint)
  AND r.completed_at < CASE r.status WHEN 'failed' THEN $2::bigint ELSE $1::bigint END * 1000000
  AND r.scheduled_for >= $4::bigint
ORDER BY r.scheduled_for
LIMIT $3::bigint
