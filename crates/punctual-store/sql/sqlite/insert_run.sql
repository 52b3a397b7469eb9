-- An entry of any kind; one that is there already is left as it is.
INSERT INTO runs (scheduled_for, org, schedule, origin, nonce, shard, fire_at, look_at, status, reason, detail,
                  version, tz, completed_at, is_forced)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
ON CONFLICT DO NOTHING
