-- When the next row wants to be looked at.
SELECT look_at
FROM runs
WHERE look_at > ?1 AND (?2 IS NULL OR shard IN (SELECT value FROM json_each(?2)))
ORDER BY look_at
LIMIT 1
