-- Each with its first version, from the same rows.
WITH made AS (
    INSERT INTO schedules (org, id, name, user_id, description, tags, spec, definition, declared_set, version, created_at,
                           updated_at)
    SELECT d.org, d.id, d.name, d.user_id, d.description, d.tags, d.spec, d.definition, d.declared_set, d.version, d.at,
           d.at
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                $9::text[], $10::bigint[], $11::bigint[])
        AS d (org, id, name, user_id, description, tags, spec, definition, declared_set, version, at)
    ON CONFLICT DO NOTHING
    RETURNING key, org, id, version, updated_at, definition
), kept AS (
    INSERT INTO schedule_versions (schedule, version, org, since, made_by, definition)
    SELECT m.key, m.version, m.org, m.updated_at, $12::text, m.definition
    FROM made m
)
SELECT m.key, m.org, m.id FROM made m
