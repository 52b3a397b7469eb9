INSERT INTO runs (scheduled_for, org, schedule, origin, nonce, shard, fire_at, look_at, status, reason, detail, version, tz)
SELECT d.tick, d.org, d.schedule, 'chained', d.nonce, d.shard, d.fire_at, d.fire_at, 'scheduled', d.reason, d.detail,
       d.version, $10::bigint
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::text[],
            $9::bigint[]) AS d (tick, org, schedule, nonce, shard, fire_at, reason, detail, version)
ON CONFLICT (scheduled_for, org, schedule, origin, nonce) DO NOTHING
