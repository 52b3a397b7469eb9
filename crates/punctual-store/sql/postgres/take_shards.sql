-- What nobody holds, or somebody who is gone; whoever takes at the same moment waits here and finds it taken.
INSERT INTO shard_leases (shard, fence, epoch)
SELECT d.shard, $1::bigint, $1::bigint
FROM generate_series(0, $4::bigint - 1) AS d (shard)
LEFT JOIN shard_leases s ON s.shard = d.shard
WHERE s.shard IS NULL OR s.fence <> ALL ($3::bigint[])
ORDER BY d.shard
LIMIT $2::bigint
ON CONFLICT (shard) DO UPDATE SET fence = excluded.fence, epoch = greatest(shard_leases.epoch + 1, excluded.epoch)
WHERE shard_leases.fence <> excluded.fence AND shard_leases.fence <> ALL ($3::bigint[])
