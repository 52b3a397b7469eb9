-- Runs in flight of nodes that are gone.
SELECT r.key, r.schedule, r.org, r.origin, r.nonce, r.scheduled_for, r.fire_at, r.attempt, r.version, r.traceparent, r.token,
       r.look_at, r.fence,
       r.status = 'running' AND r.token IS NOT NULL AND r.executor_run_id IS NOT NULL
FROM runs AS r INDEXED BY runs_busy
LEFT JOIN nodes AS n ON n.fence = r.fence
WHERE (r.status = 'enqueued' OR r.status = 'running' OR r.status = 'waiting' OR r.status = 'retrying')
  AND (r.status = 'enqueued' OR r.status = 'running')
  AND r.fence <> ?1 AND (n.fence IS NULL OR n.left_at IS NOT NULL OR n.lease_until <= ?2)
ORDER BY r.key
LIMIT ?3
