INSERT INTO again.schedules SELECT * FROM schedules WHERE key BETWEEN $1 AND $2
