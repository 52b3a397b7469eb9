-- The definitions have just been sent: they are copied, not sent again.
INSERT INTO schedule_versions (schedule, version, org, since, made_by, definition)
SELECT s.key, s.version, s.org, s.updated_at, $2::text, s.definition
FROM unnest($1::bigint[]) AS d (schedule)
JOIN schedules s ON s.key = d.schedule
