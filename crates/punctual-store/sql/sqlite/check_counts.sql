-- How many rows of a schedule say success, if retention took none of them.
SELECT count(*) FILTER (WHERE status = 'success'),
       EXISTS (SELECT 1 FROM run_ranges WHERE schedule = ?1 AND counts IS NOT NULL)
FROM runs
WHERE schedule = ?1
