INSERT INTO main.runs SELECT * FROM made.runs WHERE schedule BETWEEN ?1 AND ?2
