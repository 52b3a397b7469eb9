-- Whether the indexes are in their present order.
SELECT pg_get_indexdef(to_regclass('runs_open')) LIKE '%(schedule, status)%'
