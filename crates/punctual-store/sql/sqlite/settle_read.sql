-- A run with how its schedule stands, for the decision over its end. Whether its end may be counted later: its schedule has
-- had no failure since, is planned soon, and knows of no tick as late as this one. Last, whether something that has ended by an
-- instant is not counted.
SELECT r.schedule, r.org, r.status, r.attempt, r.fence, r.token, r.version, r.origin, r.started_at, r.enqueued_at,
       st.run_count, st.success_count, st.failure_count, st.consecutive_failures, st.admitted,
       st.status = 'active' AND st.left_at IS NULL,
       st.spent_at IS NOT NULL OR (st.next_tick IS NULL AND st.plan_at IS NULL),
       st.consecutive_failures = 0 AND coalesce(st.plan_at <= ?2, FALSE)
         AND r.scheduled_for > coalesce(st.launched_through, -9223372036854775808),
       EXISTS (SELECT 1 FROM runs AS u
         WHERE u.schedule = r.schedule AND u.scheduled_for > coalesce(st.launched_through, -9223372036854775808)
           AND u.scheduled_for <= ?3 AND (u.key <> r.key OR r.status = 'success') AND u.origin = 'tick'
           AND u.status = 'success')
FROM runs AS r
JOIN schedule_state AS st ON st.schedule = r.schedule
WHERE r.key = ?1
