INSERT INTO again.schedule_versions SELECT * FROM schedule_versions WHERE schedule BETWEEN $1 AND $2
