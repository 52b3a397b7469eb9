INSERT INTO lanes (org, key, run) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING
