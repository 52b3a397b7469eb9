SELECT v.schedule, v.version, v.since, v.made_by
FROM schedule_versions AS v
JOIN schedules AS s ON s.key = v.schedule
WHERE s.org IN (SELECT key FROM orgs WHERE ?1 IS NULL OR key = ?1) AND s.id = ?2
ORDER BY v.version DESC
