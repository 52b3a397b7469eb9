SELECT min(key), max(key) FROM schedules
