-- Where each tick hangs on the one before, the next is planned when that one has ended, run or not.
UPDATE schedule_state s SET plan_at = $2::bigint
FROM unnest($1::bigint[]) AS d (schedule)
WHERE s.schedule = d.schedule AND s.status = $3::text AND s.left_at IS NULL AND s.spent_at IS NULL
  AND s.plan_at IS NULL AND s.next_tick IS NULL
