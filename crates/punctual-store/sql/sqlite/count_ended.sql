-- Ticks whose end is in their rows alone are counted: they lie beyond those that the schedule knows as launched.
UPDATE schedule_state
SET (admitted, run_count, success_count, last_start, last_finish, last_status, last_success_at, last_success_run,
     anchor_start, anchor_finish, launched_through) =
    (SELECT admitted + count(*), run_count + count(*), success_count + count(*), max(r.enqueued_at), max(r.completed_at),
            'success', max(r.completed_at), max(r.key), max(r.enqueued_at), max(r.completed_at), max(r.scheduled_for)
     FROM runs AS r
     WHERE r.schedule = ?1 AND r.scheduled_for > coalesce(launched_through, -9223372036854775808) AND r.scheduled_for <= ?2
       AND r.origin = 'tick' AND r.status = 'success')
WHERE schedule = ?1
  AND EXISTS (SELECT 1 FROM runs AS r
    WHERE r.schedule = ?1 AND r.scheduled_for > coalesce(launched_through, -9223372036854775808) AND r.scheduled_for <= ?2
      AND r.origin = 'tick' AND r.status = 'success')
