-- A node of which runs are in flight still stands for them.
DELETE FROM nodes n
WHERE n.lease_until < $1::bigint
  AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.fence = n.fence AND r.completed_at IS NULL)
