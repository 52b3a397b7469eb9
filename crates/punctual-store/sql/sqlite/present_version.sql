SELECT version FROM schedule_state WHERE schedule = ?1
