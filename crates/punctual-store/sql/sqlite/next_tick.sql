-- The nearest tick that no ledger row stands for yet.
SELECT min(next_tick) FROM schedule_state WHERE next_tick IS NOT NULL
