INSERT INTO orgs (id, created_at) VALUES (?1, ?2)
