SELECT key, name FROM schedules WHERE org = ?1 AND id = ?2
