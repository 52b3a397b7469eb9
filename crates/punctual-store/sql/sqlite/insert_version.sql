INSERT INTO schedule_versions (schedule, version, org, since, made_by, definition) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
