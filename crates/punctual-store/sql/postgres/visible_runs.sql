-- Of these runs those that whoever asks may see.
SELECT r.key
FROM unnest($1::bigint[]) AS d (run)
JOIN runs r ON r.key = d.run
