-- These schedules, as far as they are active.
SELECT schedule, org, version, planned_through, decided_through, admitted, anchor_start, anchor_finish, coalesce(plan_at, 0),
       CASE WHEN next_tick IS NULL THEN plan_at END
FROM schedule_state
WHERE schedule IN (SELECT value FROM json_each(?1)) AND status = 'active' AND left_at IS NULL AND spent_at IS NULL
