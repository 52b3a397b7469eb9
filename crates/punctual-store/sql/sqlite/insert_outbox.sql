INSERT INTO outbox (org, run, attempt, message_id, body, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (org, run, attempt) DO NOTHING
