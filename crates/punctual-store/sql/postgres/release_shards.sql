DELETE FROM shard_leases WHERE fence = $1::bigint AND shard <> ALL ($2::bigint[])
