-- How many runs of an org are in flight, counted.
SELECT count(*)
FROM runs INDEXED BY runs_busy
WHERE org = ?1
  AND (status = 'enqueued' OR status = 'running' OR status = 'waiting' OR status = 'retrying')
  AND (status = 'enqueued' OR status = 'running')
