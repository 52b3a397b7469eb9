SELECT 1 FROM nodes n
WHERE n.fence = $1::bigint AND n.left_at IS NULL
  AND n.lease_until >= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
