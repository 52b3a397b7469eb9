-- Frees the schedule and counts how its run ended; of one that was on a sheet, its start as well.
UPDATE schedule_state
SET active_run = nullif(active_run, ?2), run_count = ?3, success_count = ?4, failure_count = ?5,
    consecutive_failures = ?6, last_finish = ?7, last_status = ?8,
    last_success_at = coalesce(?9, last_success_at), last_success_run = coalesce(?10, last_success_run),
    anchor_finish = coalesce(?11, anchor_finish),
    admitted = admitted + (?12 IS NOT NULL), last_start = coalesce(?12, last_start),
    anchor_start = coalesce(?12, anchor_start),
    launched_through = CASE WHEN ?13 IS NULL THEN launched_through ELSE max(coalesce(launched_through, ?13), ?13) END
WHERE schedule = ?1
