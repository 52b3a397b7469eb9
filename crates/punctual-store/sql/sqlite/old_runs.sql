-- Ended rows of a schedule whose tick and whose end are past their time, or at or before the tick from which on there
-- are enough; failures have a time of their own. The latest stays whatever its age, for those that depend on it.
SELECT r.key, r.schedule, r.org, r.scheduled_for, r.status, r.origin, r.version
FROM runs AS r
WHERE r.schedule = ?1 AND r.scheduled_for < max(?2, ?4 + 1) AND r.look_at IS NULL
  AND CASE
          WHEN r.status <> 'failed' AND r.scheduled_for <= ?4 THEN TRUE
          ELSE r.scheduled_for < CASE r.status WHEN 'failed' THEN ?3 ELSE ?2 END
               AND r.completed_at < CASE r.status WHEN 'failed' THEN ?3 ELSE ?2 END * 1000000
               AND r.scheduled_for < (SELECT max(l.scheduled_for) FROM runs AS l WHERE l.schedule = ?1)
      END
ORDER BY r.scheduled_for
LIMIT ?5
