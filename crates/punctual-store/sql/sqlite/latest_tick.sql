-- The latest tick of a schedule at or before an instant, as a row.
SELECT scheduled_for, status
FROM runs
WHERE schedule = ?1 AND scheduled_for <= ?2 AND origin = 'tick'
ORDER BY scheduled_for DESC
LIMIT 1
