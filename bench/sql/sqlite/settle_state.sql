UPDATE schedule_state
SET active_run = NULL, run_count = run_count + 1, success_count = success_count + 1, consecutive_failures = 0,
    last_finish = ?3, last_status = 'success', last_success_at = ?3, last_success_run = ?2
WHERE schedule = ?1 AND active_run = ?2
