-- Of these schedules, those that have a tick in the past that no plan has decided.
SELECT s.schedule
FROM unnest($1::bigint[]) AS d (schedule)
JOIN schedule_state s ON s.schedule = d.schedule
WHERE s.plan_at IS NOT NULL AND s.next_tick <= $2::bigint
