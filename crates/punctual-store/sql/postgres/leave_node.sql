UPDATE nodes n SET left_at = c.now, lease_until = least(n.lease_until, c.now)
FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now) c
WHERE n.fence = $1::bigint AND n.left_at IS NULL
