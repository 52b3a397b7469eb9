-- A row that waits, and whose it is.
SELECT schedule, org, version, attempt, origin FROM runs WHERE key = ?1 AND status = 'waiting'
