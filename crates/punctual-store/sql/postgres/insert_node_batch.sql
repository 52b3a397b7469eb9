-- Nothing, if the node's lease is over. Its row is held from here to the commit, a moment later: until then it cannot
-- leave, so whoever takes its runs over sees this batch or this batch sees that.
INSERT INTO batches (id, at, answer)
SELECT $1::text, $2::bigint, $3::text FROM nodes n
WHERE n.fence = $4::bigint AND n.left_at IS NULL
  AND n.lease_until >= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
FOR SHARE OF n
