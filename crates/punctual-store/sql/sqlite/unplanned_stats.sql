-- Schedules whose next tick is past and has no entry.
SELECT count(*) FROM schedule_state WHERE (?1 IS NULL OR org = ?1) AND plan_at IS NOT NULL AND next_tick < ?2
