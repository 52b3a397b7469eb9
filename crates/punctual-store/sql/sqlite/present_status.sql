-- How a run stands.
SELECT status FROM runs WHERE key = ?1
