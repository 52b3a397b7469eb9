INSERT INTO nodes (fence, id, pid, started_at, seen_at, lease_us, lease_until, tz_version, version)
SELECT $1::bigint, $2::text, $3::bigint, $4::bigint, c.now, $5::bigint, c.now + $5::bigint, $6::text, $7::text
FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now) c
