-- A row that is due, as `late_rows` has it and with its schedule, if it is an armed tick whose instant has passed.
SELECT key, scheduled_for, fire_at, reason, detail, schedule
FROM runs
WHERE key = ?1 AND status = 'scheduled' AND fire_at <= ?2 AND origin = 'tick'
