-- Rows that have not ended, by status: what has ended is never counted, however much of it there is.
SELECT status, count(*) FROM runs WHERE look_at IS NOT NULL AND (?1 IS NULL OR org = ?1) GROUP BY status
