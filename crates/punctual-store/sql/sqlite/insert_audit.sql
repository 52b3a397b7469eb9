INSERT INTO audit_events (org, at, kind, schedule, detail) VALUES (?1, ?2, ?3, ?4, ?5)
