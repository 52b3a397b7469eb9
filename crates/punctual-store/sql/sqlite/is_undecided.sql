-- Whether a schedule has a tick in the past that no plan has decided.
SELECT 1 FROM schedule_state WHERE schedule = ?1 AND plan_at IS NOT NULL AND next_tick <= ?2
