-- Ticks that the next one hangs on: those that were never launched, and if ?2 those that have not ended.
SELECT (SELECT count(*)
        FROM runs
        WHERE schedule = ?1
          AND (status = 'enqueued' OR status = 'running' OR status = 'waiting' OR status = 'retrying')
          AND origin = 'tick'
          AND (?2 OR attempt = 0))
     + (SELECT count(*)
        FROM (SELECT status, origin FROM runs WHERE schedule = ?1 ORDER BY scheduled_for DESC LIMIT 16)
        WHERE status = 'scheduled' AND origin = 'tick')
