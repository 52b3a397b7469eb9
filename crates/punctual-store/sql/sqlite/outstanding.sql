-- Rows that are armed or in flight, of a schedule that arms one tick at a time.
SELECT (SELECT count(*) FROM runs WHERE schedule = ?1 AND status IN ('enqueued', 'running', 'waiting', 'retrying'))
     + (SELECT count(*)
        FROM (SELECT status FROM runs WHERE schedule = ?1 ORDER BY scheduled_for DESC LIMIT 16)
        WHERE status = 'scheduled')
