-- Schedules whose id starts with the given text: `g` is beyond every letter of an id.
SELECT * FROM schedule_rows WHERE org = ?1 AND id >= ?2 AND id < ?2 || 'g' LIMIT 2
