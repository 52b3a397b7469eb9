-- A schedule leaves `active` by itself.
UPDATE schedule_state
SET status = ?2, status_detail = ?3, left_at = ?4, plan_at = NULL, next_tick = NULL
WHERE schedule = ?1
