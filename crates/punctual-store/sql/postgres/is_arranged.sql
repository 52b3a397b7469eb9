-- Whether the indexes are the present ones.
SELECT to_regprocedure('open_runs_of(bigint)') IS NOT NULL
