-- The living nodes with the shards of each.
SELECT n.pid, count(s.shard)
FROM nodes n
LEFT JOIN shard_leases s ON s.fence = n.fence
WHERE n.left_at IS NULL AND n.lease_until >= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
GROUP BY n.fence, n.pid
ORDER BY n.fence
