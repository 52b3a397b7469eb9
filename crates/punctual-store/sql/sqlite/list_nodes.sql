SELECT n.fence, n.id, n.pid, n.started_at, n.seen_at, n.lease_until,
       (SELECT count(*) FROM shard_leases AS l WHERE l.fence = n.fence), n.tz_version, n.version, n.left_at,
       n.ahead_us
FROM nodes AS n
ORDER BY n.fence DESC
LIMIT 1000
