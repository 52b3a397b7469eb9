-- The stretch that ends last before a tick.
SELECT first, last, count, counts, version FROM run_ranges WHERE schedule = ?1 AND first < ?2 ORDER BY first DESC LIMIT 1
