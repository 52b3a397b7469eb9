SELECT a.run, a.number, a.token
FROM unnest($1::bigint[]) AS d (run)
JOIN attempts a ON a.run = d.run
WHERE a.token IS NOT NULL
