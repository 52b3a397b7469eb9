-- What a run that ended well leaves of its schedule, which is given as it was held but for the failures before it, which do
-- not count any more.
UPDATE schedule_state s
SET run_count = s.run_count + 1, success_count = s.success_count + 1, consecutive_failures = 0,
    active_run = nullif(s.active_run, d.run), last_finish = d.at, last_status = 'success', last_success_at = d.at,
    last_success_run = d.run, anchor_finish = CASE WHEN d.anchored = 1 THEN d.at ELSE s.anchor_finish END
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS d (schedule, run, at, anchored)
WHERE s.schedule = d.schedule
RETURNING s.schedule, s.org, s.status, s.admitted, s.run_count - 1, s.success_count - 1, s.failure_count,
    s.consecutive_failures, s.active_run, s.left_at,
    (s.next_tick IS NULL AND s.plan_at IS NULL) OR s.spent_at IS NOT NULL, s.version
