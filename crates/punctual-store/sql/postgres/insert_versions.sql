INSERT INTO schedule_versions (schedule, version, org, since, made_by, definition)
SELECT d.schedule, d.version, d.org, d.since, $6::text, d.definition
FROM (SELECT unnest($1::bigint[]) AS schedule, unnest($2::bigint[]) AS version, unnest($3::bigint[]) AS org,
             unnest($4::bigint[]) AS since, unnest($5::text[]) AS definition) d
