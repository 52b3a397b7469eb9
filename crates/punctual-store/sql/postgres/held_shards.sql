SELECT shard FROM shard_leases WHERE fence = $1::bigint ORDER BY shard
