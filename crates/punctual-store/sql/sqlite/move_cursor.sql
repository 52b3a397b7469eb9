-- Moves the cursor only from where the planner read it, and only while the version is the one it read. Ticks that have ended
-- by an instant, and whose end is in their rows alone, are counted with it, as `count_ended` does.
UPDATE schedule_state
SET planned_through = ?5, decided_through = ?6, next_tick = ?7, plan_at = ?8,
    (admitted, run_count, success_count, last_start, last_finish, last_status, last_success_at, last_success_run,
     anchor_start, anchor_finish, launched_through) =
    (SELECT admitted + count(*), run_count + count(*), success_count + count(*), coalesce(max(r.enqueued_at), last_start),
            coalesce(max(r.completed_at), last_finish), CASE WHEN count(*) > 0 THEN 'success' ELSE last_status END,
            coalesce(max(r.completed_at), last_success_at), coalesce(max(r.key), last_success_run),
            coalesce(max(r.enqueued_at), anchor_start), coalesce(max(r.completed_at), anchor_finish),
            coalesce(max(r.scheduled_for), launched_through)
     FROM runs AS r
     WHERE r.schedule = ?1 AND r.scheduled_for > coalesce(launched_through, -9223372036854775808) AND r.scheduled_for <= ?9
       AND r.origin = 'tick' AND r.status = 'success')
WHERE schedule = ?1 AND version = ?2 AND planned_through = ?3 AND decided_through = ?4
  AND status = 'active' AND left_at IS NULL AND spent_at IS NULL
