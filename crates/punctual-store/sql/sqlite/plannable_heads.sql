-- Which schedules want planning, in the order of `plannable`, from the index alone.
SELECT schedule, plan_at FROM schedule_state
WHERE plan_at <= ?1 AND (?2 IS NULL OR shard IN (SELECT value FROM json_each(?2)))
ORDER BY plan_at, schedule
LIMIT ?3
