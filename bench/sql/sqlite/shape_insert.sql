INSERT INTO runs (idem, schedule_id, planned_at, status, payload, created_at)
VALUES (?1, ?2, ?3, 0, ?4, ?3)
ON CONFLICT (idem) DO NOTHING
