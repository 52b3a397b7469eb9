UPDATE schedule_state s
SET version = $5::bigint, status = coalesce($6::text, s.status), status_detail = coalesce($7::text, s.status_detail),
    left_at = CASE WHEN $14::bigint = 1 THEN NULL ELSE coalesce($8::bigint, s.left_at) END,
    consecutive_failures = CASE WHEN $14::bigint = 1 THEN 0 ELSE s.consecutive_failures END,
    spent_at = CASE WHEN $13::bigint = 1 THEN NULL ELSE s.spent_at END,
    planned_through = $9::bigint, decided_through = $10::bigint, next_tick = $11::bigint,
    -- One that nobody has planned yet is left to the planner, if it is active.
    plan_at = CASE
        WHEN $15::bigint IS NULL THEN $12::bigint
        WHEN $14::bigint = 1 OR (s.status = 'active' AND s.left_at IS NULL AND $8::bigint IS NULL) THEN $15::bigint
    END
WHERE s.schedule = $1::bigint AND s.version = $2::bigint AND s.planned_through = $3::bigint
  AND s.decided_through = $4::bigint
  AND EXISTS (SELECT 1 FROM schedules d WHERE d.key = s.schedule AND d.deleted_at IS NULL)
RETURNING s.org, s.shard
