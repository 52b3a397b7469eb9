-- Frees the schedule and counts how its run ended.
UPDATE schedule_state
SET active_run      = CASE WHEN active_run = ?2 THEN NULL ELSE active_run END,
    run_count       = run_count + 1,
    success_count   = success_count + (?3 = 'success'),
    failure_count   = failure_count + (?3 = 'failed'),
    last_run_at     = ?4,
    last_run_status = ?3
WHERE schedule = ?1
