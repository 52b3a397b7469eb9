-- Every armed row of one schedule.
SELECT key, scheduled_for FROM runs WHERE schedule = ?1 AND status = 'scheduled'
