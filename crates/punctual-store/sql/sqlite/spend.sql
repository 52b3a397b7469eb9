-- The last of its runs was admitted.
UPDATE schedule_state SET spent_at = ?2, plan_at = NULL, next_tick = NULL WHERE schedule = ?1
