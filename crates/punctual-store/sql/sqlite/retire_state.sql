UPDATE schedule_state
SET next_tick = NULL, version = version + 1, decided_through = max(decided_through, ?2)
WHERE schedule = ?1
