-- Terminal rows have nothing left to be looked at.
INSERT INTO runs (scheduled_for, org, schedule, origin, nonce, shard, fire_at, look_at, status, reason, detail, version,
                  tz, completed_at)
SELECT d.tick, d.org, d.schedule, 'tick', '', d.shard, d.fire_at,
       CASE WHEN d.status = 'scheduled' THEN d.fire_at END, d.status, d.reason, d.detail, d.version, $10::bigint,
       CASE WHEN d.status <> 'scheduled' THEN $11::bigint END
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[],
            $9::bigint[]) AS d (tick, org, schedule, shard, fire_at, status, reason, detail, version)
ON CONFLICT (scheduled_for, org, schedule, origin, nonce) DO NOTHING
