-- Whether an attempt is in flight under a fence.
SELECT 1 FROM runs WHERE key = ?1 AND attempt = ?2 AND fence = ?3 AND (status = 'enqueued' OR status = 'running')
