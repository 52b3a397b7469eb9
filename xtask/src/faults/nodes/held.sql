-- The runs in flight under a lease.
SELECT key, attempt FROM runs WHERE fence = :fence AND completed_at IS NULL AND status IN ('enqueued', 'running')
