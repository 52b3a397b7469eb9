-- The latest ticks of a schedule, with the versions they belong to.
SELECT scheduled_for, version FROM runs
WHERE schedule = ?1 AND origin = 'tick' AND scheduled_for <= ?2
ORDER BY scheduled_for DESC
LIMIT ?3
