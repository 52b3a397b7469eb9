INSERT INTO again.runs SELECT * FROM runs WHERE schedule BETWEEN $1 AND $2
