INSERT INTO batches (id, at, answer) VALUES (?1, ?2, ?3)
