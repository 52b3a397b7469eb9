-- The latest stretch of a schedule that begins at or before an instant.
SELECT min(last, ?2), status
FROM run_ranges
WHERE schedule = ?1 AND first <= ?2
ORDER BY first DESC
LIMIT 1
