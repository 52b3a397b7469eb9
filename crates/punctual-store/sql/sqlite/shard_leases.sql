SELECT shard, fence FROM shard_leases ORDER BY shard
