SELECT r.key, r.status, r.attempt
FROM unnest($1::bigint[]) AS d (run)
JOIN runs r ON r.key = d.run
ORDER BY r.key
FOR UPDATE OF r
