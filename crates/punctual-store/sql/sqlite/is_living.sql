-- Whether a node has its lease.
SELECT 1 FROM nodes WHERE fence = ?1 AND left_at IS NULL AND lease_until > ?2
