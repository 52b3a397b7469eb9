INSERT INTO schedule_state (schedule, version, planned_through, decided_through, next_tick)
VALUES (?1, 1, ?2, ?3, ?4)
