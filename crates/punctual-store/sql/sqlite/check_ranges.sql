-- The latest stretches of a schedule, with the versions they belong to.
SELECT first, last, count, version FROM run_ranges WHERE schedule = ?1 ORDER BY first DESC LIMIT ?2
