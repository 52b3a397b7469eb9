-- Moves the cursor only from where the planner read it, and only while the version is the one it read.
UPDATE schedule_state
SET planned_through = ?5, decided_through = ?6, next_tick = ?7, plan_at = ?8
WHERE schedule = ?1 AND version = ?2 AND planned_through = ?3 AND decided_through = ?4
  AND status = 'active' AND left_at IS NULL AND spent_at IS NULL
