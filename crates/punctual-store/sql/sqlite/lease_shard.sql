INSERT INTO shard_leases (shard, fence, epoch) VALUES (?1, ?2, 1)
ON CONFLICT (shard) DO UPDATE SET fence = excluded.fence, epoch = epoch + 1
