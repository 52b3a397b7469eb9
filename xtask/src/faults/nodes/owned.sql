-- The newest lease of a process, with its shards.
SELECT n.fence, s.shard
FROM nodes n
LEFT JOIN shard_leases s ON s.fence = n.fence
WHERE n.fence = (SELECT max(o.fence) FROM nodes o WHERE o.pid = :pid)
ORDER BY s.shard
