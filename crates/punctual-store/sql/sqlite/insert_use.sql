INSERT INTO schedule_uses (org, kind, name, schedule) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING
