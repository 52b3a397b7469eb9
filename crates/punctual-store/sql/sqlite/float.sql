-- The next tick hangs on this run: the schedule wants planning.
UPDATE schedule_state SET plan_at = ?2
WHERE schedule = ?1 AND status = 'active' AND left_at IS NULL AND spent_at IS NULL
