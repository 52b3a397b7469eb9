-- What the next tick hung on may have started or ended since the plan was made that waits for it.
UPDATE schedule_state s SET plan_at = $2::bigint
FROM unnest($1::bigint[], $4::bigint[]) AS d (schedule, until_end)
WHERE s.schedule = d.schedule AND s.status = $3::text AND s.left_at IS NULL AND s.spent_at IS NULL
  AND s.plan_at IS NULL AND s.next_tick IS NULL
  AND NOT EXISTS (
      SELECT 1 FROM runs r
      WHERE r.schedule = s.schedule AND r.look_at IS NOT NULL AND r.status = 'scheduled' AND r.origin = $5::text
      OFFSET 0)
  AND NOT EXISTS (
      SELECT 1 FROM runs r
      WHERE r.schedule = s.schedule AND r.look_at IS NOT NULL AND r.status <> 'scheduled' AND r.origin = $5::text
        AND (d.until_end = 1 OR r.attempt = 0)
      OFFSET 0)
