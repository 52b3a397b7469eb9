-- Schedules whose id starts with the given text: `g` is beyond every letter of an id.
SELECT * FROM schedule_rows
WHERE org IN (SELECT key FROM orgs WHERE ?1 IS NULL OR key = ?1) AND id >= ?2 AND id < ?2 || 'g'
LIMIT 2
