-- As `lock_states`, of those that nobody else holds.
SELECT s.schedule, s.org, s.status, s.admitted, s.run_count, s.success_count, s.failure_count, s.consecutive_failures,
       s.active_run, s.left_at, (s.next_tick IS NULL AND s.plan_at IS NULL) OR s.spent_at IS NOT NULL, s.version
FROM unnest($1::bigint[]) AS d (schedule)
JOIN schedule_state s ON s.schedule = d.schedule
ORDER BY s.schedule
FOR UPDATE OF s SKIP LOCKED
