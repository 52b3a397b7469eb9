INSERT INTO shard_leases (shard, fence, epoch)
SELECT d.shard, $1::bigint, $1::bigint
FROM unnest($2::bigint[]) AS d (shard)
ORDER BY d.shard
ON CONFLICT (shard) DO UPDATE SET fence = excluded.fence, epoch = greatest(shard_leases.epoch + 1, excluded.epoch)
WHERE shard_leases.fence <> excluded.fence AND shard_leases.fence <> ALL ($3::bigint[])
