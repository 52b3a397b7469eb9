INSERT INTO org_use (org, minute, per_minute, in_flight) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (org) DO UPDATE
SET minute = excluded.minute, per_minute = excluded.per_minute, in_flight = excluded.in_flight
