SELECT min(key), max(key) FROM made.schedules
