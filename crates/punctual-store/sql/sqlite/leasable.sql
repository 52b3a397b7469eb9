-- Enqueued runs of a queue that nobody holds, oldest first.
SELECT r.key, r.schedule, r.org, r.origin, r.nonce, r.scheduled_for, r.fire_at, r.attempt, r.version,
       r.traceparent, NULL, r.look_at
FROM runs AS r
WHERE r.org IN (SELECT key FROM orgs WHERE ?1 IS NULL OR key = ?1) AND r.queue = ?2 AND r.status = 'enqueued'
ORDER BY r.fire_at
LIMIT ?3
