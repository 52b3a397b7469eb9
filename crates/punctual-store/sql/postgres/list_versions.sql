SELECT v.org, v.version, v.since, v.made_by, v.definition
FROM schedules s
JOIN schedule_versions v ON v.schedule = s.key
WHERE s.id = $1::text
ORDER BY v.version DESC
