INSERT INTO audit_seals (org, position, seq, hash) VALUES (?1, ?2, ?3, ?4)
