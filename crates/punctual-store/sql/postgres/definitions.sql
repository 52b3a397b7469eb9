SELECT v.schedule, v.version, v.org, v.definition
FROM unnest($1::bigint[], $2::bigint[]) AS d (schedule, version)
JOIN schedule_versions v ON v.schedule = d.schedule AND v.version = d.version
