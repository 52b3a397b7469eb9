UPDATE schedule_state s
SET status = 'exhausted', left_at = coalesce(s.spent_at, $2::bigint), plan_at = NULL,
    status_detail = coalesce(s.spent_at, $2::bigint)::text
FROM unnest($1::bigint[], $4::bigint[]) AS d (schedule, has_ticks)
WHERE s.schedule = d.schedule AND s.status = $3::text AND s.left_at IS NULL
  AND ((d.has_ticks = 1 AND s.next_tick IS NULL AND s.plan_at IS NULL) OR s.spent_at IS NOT NULL)
  AND NOT EXISTS (
      SELECT 1 FROM runs r WHERE r.schedule = s.schedule AND r.look_at IS NOT NULL AND r.status = 'scheduled'
      OFFSET 0)
  AND NOT EXISTS (
      SELECT 1 FROM runs r WHERE r.schedule = s.schedule AND r.look_at IS NOT NULL AND r.status <> 'scheduled'
      OFFSET 0)
RETURNING s.schedule, s.org, s.left_at
