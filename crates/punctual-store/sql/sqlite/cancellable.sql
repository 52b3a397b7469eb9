-- A run that has not ended, within an org if one is given.
SELECT r.org, r.schedule, s.name, r.status, r.scheduled_for, r.origin
FROM runs AS r
JOIN schedules AS s ON s.key = r.schedule
WHERE r.key = ?1 AND (?2 IS NULL OR r.org = ?2) AND r.completed_at IS NULL
