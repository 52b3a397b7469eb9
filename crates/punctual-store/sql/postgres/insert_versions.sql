INSERT INTO schedule_versions (schedule, version, org, since, made_by, definition)
SELECT d.schedule, d.version, d.org, d.since, $6::text, d.definition
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[])
    AS d (schedule, version, org, since, definition)
