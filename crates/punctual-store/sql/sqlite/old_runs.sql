-- Ended rows past their time, oldest tick first; the latest of a schedule stays, for those that depend on it.
SELECT r.key, r.schedule, r.org, r.scheduled_for, r.status, r.origin, r.version
FROM runs AS r
WHERE r.scheduled_for < ?1 AND r.look_at IS NULL
  AND (r.status <> 'failed' OR r.scheduled_for < ?2)
  AND r.scheduled_for < (SELECT max(l.scheduled_for) FROM runs AS l WHERE l.schedule = r.schedule)
ORDER BY r.scheduled_for
LIMIT ?3
