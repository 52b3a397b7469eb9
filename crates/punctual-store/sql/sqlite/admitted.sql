SELECT admitted FROM schedule_state WHERE schedule = ?1
