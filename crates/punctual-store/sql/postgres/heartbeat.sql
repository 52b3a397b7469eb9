UPDATE nodes n SET seen_at = c.now, lease_until = c.now + n.lease_us, ahead_us = $2::bigint
FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now) c
WHERE n.fence = $1::bigint AND n.left_at IS NULL AND n.lease_until >= c.now
RETURNING n.seen_at, n.lease_until, n.tz_version
