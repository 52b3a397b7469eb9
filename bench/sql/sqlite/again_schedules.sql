INSERT INTO main.schedules SELECT * FROM made.schedules WHERE key BETWEEN ?1 AND ?2
