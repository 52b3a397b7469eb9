-- Schedules that want planning, those that wait longest first, and of those that wait together the older schedule.
SELECT schedule, org, version, planned_through, decided_through, admitted, anchor_start, anchor_finish, plan_at,
       CASE WHEN next_tick IS NULL THEN plan_at END
FROM schedule_state
WHERE plan_at <= ?1 AND (?2 IS NULL OR shard IN (SELECT value FROM json_each(?2)))
ORDER BY plan_at, schedule
LIMIT ?3
