INSERT INTO audit_events (org, at, actor, kind, schedule, run, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
