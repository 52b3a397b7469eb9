DELETE FROM schedule_uses WHERE schedule = ?1
