-- The version of a schedule that has no tick to plan and lives: it is at its end, or its next tick hangs on a run.
SELECT version
FROM schedule_state
WHERE schedule = ?1 AND status = 'active' AND left_at IS NULL AND spent_at IS NULL AND next_tick IS NULL
  AND plan_at IS NULL
