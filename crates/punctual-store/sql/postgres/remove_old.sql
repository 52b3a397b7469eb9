-- Only what is still there and has ended is removed, and counted by whoever removed it.
DELETE FROM runs r USING unnest($1::bigint[]) AS d (run) WHERE r.key = d.run AND r.look_at IS NULL RETURNING r.key
