INSERT INTO requests (org, key, question, answer, at) VALUES (?1, ?2, ?3, ?4, ?5)
