SELECT s.org, s.shard, s.version
FROM schedule_state s
WHERE s.schedule = $1::bigint
  AND EXISTS (SELECT 1 FROM schedules d WHERE d.key = s.schedule AND d.deleted_at IS NULL)
FOR UPDATE OF s
