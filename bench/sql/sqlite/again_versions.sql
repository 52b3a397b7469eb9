INSERT INTO main.schedule_versions SELECT * FROM made.schedule_versions WHERE schedule BETWEEN ?1 AND ?2
