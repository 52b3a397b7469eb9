UPDATE schedule_state
SET planned_through = ?3, decided_through = ?4, next_tick = ?5, plan_at = ?6
WHERE schedule = ?1 AND version = 1 AND planned_through = ?2
