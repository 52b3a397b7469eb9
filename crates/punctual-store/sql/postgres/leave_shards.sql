DELETE FROM shard_leases WHERE fence = $1::bigint
