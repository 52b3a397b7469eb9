INSERT INTO main.schedule_state SELECT * FROM made.schedule_state WHERE schedule BETWEEN ?1 AND ?2
