UPDATE schedule_state s
SET status = $2::text, status_detail = $3::text, left_at = $4::bigint, plan_at = NULL, next_tick = NULL
WHERE s.schedule = $1::bigint AND s.status = $5::text AND s.left_at IS NULL
RETURNING s.planned_through, s.decided_through, s.launched_through, s.version, s.shard, s.admitted, s.anchor_start,
          s.anchor_finish, s.spent_at
