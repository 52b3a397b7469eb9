SELECT 'run-' || r.key
FROM runs r
JOIN schedule_versions v ON v.schedule = r.schedule AND v.version = r.version
JOIN schedule_state s ON s.schedule = r.schedule
WHERE r.look_at IS NOT NULL AND r.status IN ('enqueued', 'running') AND r.is_forced = 0
  AND coalesce(v.definition::json -> 'policy' ->> 'if_running', 'skip') <> 'allow'
  AND v.definition::json -> 'policy' ->> 'lane' IS NULL
  AND s.active_run IS DISTINCT FROM r.key
LIMIT $1::bigint
