UPDATE schedule_state s SET spent_at = $2::bigint, plan_at = NULL, next_tick = NULL
FROM unnest($1::bigint[]) AS d (schedule)
WHERE s.schedule = d.schedule AND s.spent_at IS NULL
