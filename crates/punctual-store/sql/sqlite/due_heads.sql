-- Which rows are due and whose they are, from the index alone.
SELECT key, org, look_at FROM runs
WHERE look_at < ?1 AND (?2 IS NULL OR shard IN (SELECT value FROM json_each(?2)))
UNION ALL
SELECT key, org, look_at FROM runs
WHERE look_at = ?1 AND shard >> 6 >= ?4 >> 6 AND shard >> 6 <= ?5 >> 6 AND shard >= ?4 AND shard <= ?5
      AND (?2 IS NULL OR shard IN (SELECT value FROM json_each(?2)))
ORDER BY look_at
LIMIT ?3
