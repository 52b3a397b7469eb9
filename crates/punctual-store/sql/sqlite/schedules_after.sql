SELECT schedule FROM schedule_state WHERE schedule > ?1 ORDER BY schedule LIMIT ?2
