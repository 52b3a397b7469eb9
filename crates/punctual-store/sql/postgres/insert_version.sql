INSERT INTO schedule_versions (schedule, version, org, since, made_by, definition)
VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::text, $6::text)
