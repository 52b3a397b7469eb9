INSERT INTO runs (scheduled_for, org, schedule, origin, nonce, shard, fire_at, look_at, status, version, tz)
VALUES (?1, ?2, ?3, 'tick', '', ?4, ?5, ?5, 'scheduled', 1, 1)
ON CONFLICT DO NOTHING
