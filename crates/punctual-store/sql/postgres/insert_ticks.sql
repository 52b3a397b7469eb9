-- Terminal rows have nothing left to be looked at.
INSERT INTO runs (scheduled_for, org, schedule, origin, nonce, shard, fire_at, look_at, status, reason, detail, version,
                  tz, completed_at)
SELECT d.tick, d.org, d.schedule, 'tick', '', d.shard, d.fire_at,
       CASE WHEN d.status = 'scheduled' THEN d.fire_at END, d.status, d.reason, d.detail, d.version, $10::bigint,
       CASE WHEN d.status <> 'scheduled' THEN $11::bigint END
FROM (SELECT unnest($1::bigint[]) AS tick, unnest($2::bigint[]) AS org, unnest($3::bigint[]) AS schedule,
             unnest($4::bigint[]) AS shard, unnest($5::bigint[]) AS fire_at, unnest($6::text[]) AS status,
             unnest($7::text[]) AS reason, unnest($8::text[]) AS detail, unnest($9::bigint[]) AS version) d
ON CONFLICT (scheduled_for, org, schedule, origin, nonce) DO NOTHING
