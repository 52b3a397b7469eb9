UPDATE schedule_state SET planned_through = ?2, decided_through = ?3 WHERE schedule = ?1
