SELECT status, count(*) FROM runs WHERE ?1 IS NULL OR org = ?1 GROUP BY status
