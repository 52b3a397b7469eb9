WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ?1)
INSERT INTO state (id, next_run_at, last_run_at, enabled) SELECT n, (n * 2654435761) % 86400, 0, 1 FROM number
