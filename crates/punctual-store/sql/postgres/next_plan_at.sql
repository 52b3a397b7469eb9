SELECT s.plan_at
FROM schedule_state s
WHERE s.plan_at > $1::bigint AND ($2::bigint[] IS NULL OR s.shard = ANY ($2::bigint[]))
ORDER BY s.plan_at, s.shard
LIMIT 1
