-- A tick that has its entry already is left as it is.
INSERT INTO runs (scheduled_for, org, schedule, origin, nonce, fire_at, status, reason, detail, version, completed_at)
VALUES (?1, ?2, ?3, 'tick', '', ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (scheduled_for, org, schedule, origin, nonce) DO NOTHING
