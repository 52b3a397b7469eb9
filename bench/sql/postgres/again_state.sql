INSERT INTO again.schedule_state SELECT * FROM schedule_state WHERE schedule BETWEEN $1 AND $2
