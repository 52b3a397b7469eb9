INSERT INTO runs (scheduled_for, org, schedule, origin, nonce, shard, fire_at, look_at, status, version, tz, is_forced)
VALUES ($1::bigint, $2::bigint, $3::bigint, $4::text, $5::text, $6::bigint, $7::bigint, $7::bigint, 'scheduled',
        $8::bigint, $9::bigint, $10::bigint)
ON CONFLICT (scheduled_for, org, schedule, origin, nonce) DO UPDATE SET nonce = excluded.nonce
RETURNING key
