-- Schedules whose next tick is past and has no entry. None wants planning later than at its next tick, so the index finds them.
SELECT count(*) FROM schedule_state WHERE plan_at <= ?3 AND next_tick < ?2 AND (?1 IS NULL OR org = ?1)
