DELETE FROM runs r USING unnest($1::bigint[]) AS d (run) WHERE r.key = d.run AND r.status = ANY ($2::text[])
