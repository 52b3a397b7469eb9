INSERT INTO nodes (fence, id, pid, started_at) VALUES (?1, ?2, ?3, ?4)
