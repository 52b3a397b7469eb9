-- Rows whose instant has come, or whose deadline has.
SELECT key FROM runs WHERE look_at <= ?1 ORDER BY look_at LIMIT ?2
