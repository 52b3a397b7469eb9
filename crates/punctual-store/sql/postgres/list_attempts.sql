SELECT a.run, a.number, a.started_at, a.ended_at, a.reason, a.detail, a.output
FROM unnest($1::bigint[]) AS d (run)
JOIN attempts a ON a.run = d.run
ORDER BY a.run, a.number
