UPDATE schedule_state
SET next_tick = NULL, version = version + 1, planned_through = ?2, decided_through = ?3
WHERE schedule = ?1
