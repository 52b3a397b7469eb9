SELECT s.schedule, s.org, s.version, s.plan_at, s.planned_through, s.decided_through, s.admitted, s.anchor_start,
       s.anchor_finish, CASE WHEN s.next_tick IS NULL THEN s.plan_at END
FROM schedule_state s
WHERE s.plan_at <= $1::bigint AND ($2::bigint[] IS NULL OR s.shard = ANY ($2::bigint[]))
ORDER BY s.plan_at, s.shard
LIMIT $3::bigint
