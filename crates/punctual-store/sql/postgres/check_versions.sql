SELECT 'run-' || r.key
FROM runs r
WHERE NOT EXISTS (SELECT 1 FROM schedule_versions v WHERE v.schedule = r.schedule AND v.version = r.version AND v.org = r.org)
LIMIT $1::bigint
