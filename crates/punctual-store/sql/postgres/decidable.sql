-- These schedules, as far as they are active.
SELECT s.schedule, s.org, s.version, coalesce(s.plan_at, 0), s.planned_through, s.decided_through, s.admitted,
       s.anchor_start, s.anchor_finish, CASE WHEN s.next_tick IS NULL THEN s.plan_at END
FROM unnest($1::bigint[]) AS d (schedule)
JOIN schedule_state s ON s.schedule = d.schedule
WHERE s.status = $2::text AND s.left_at IS NULL AND s.spent_at IS NULL
