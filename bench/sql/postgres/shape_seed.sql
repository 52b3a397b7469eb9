INSERT INTO state (id, next_run_at, last_run_at, enabled)
SELECT n, (n * 2654435761) % 86400, 0, TRUE FROM generate_series(0, $1::bigint - 1) AS number (n)
