-- A tick that has its entry already is left as it is.
INSERT INTO runs (scheduled_for, org, schedule, origin, nonce, shard, fire_at, look_at, status, version, tz)
VALUES (?2, ?3, ?4, 'tick', '', ?5, ?6, ?6, 'scheduled', ?7, ?1)
ON CONFLICT DO NOTHING
