-- Armed ticks of one schedule whose instant has passed.
SELECT key, scheduled_for, fire_at, reason, detail
FROM runs
WHERE schedule = ?1 AND scheduled_for >= ?3 AND status = 'scheduled' AND fire_at <= ?2 AND origin = 'tick'
ORDER BY scheduled_for
