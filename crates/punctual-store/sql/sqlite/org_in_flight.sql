-- How many runs of an org are in flight, counted.
SELECT count(*)
FROM runs INDEXED BY runs_busy
WHERE org = ?1 AND status IN ('enqueued', 'running', 'waiting', 'retrying') AND status IN ('enqueued', 'running')
