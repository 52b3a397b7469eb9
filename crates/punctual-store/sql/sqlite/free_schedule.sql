UPDATE schedule_state SET active_run = NULL WHERE schedule = ?1 AND active_run = ?2
