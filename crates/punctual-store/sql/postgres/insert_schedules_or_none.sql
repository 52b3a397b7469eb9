-- Fails as a whole if a name or an id is taken: without looking for that first it costs a third less.
INSERT INTO schedules (org, id, name, user_id, description, tags, spec, declared_set, version, created_at, updated_at)
SELECT d.org, d.id, d.name, d.user_id, d.description, d.tags, d.spec, d.declared_set, d.version, d.at, d.at
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
            $9::bigint[], $10::bigint[])
    AS d (org, id, name, user_id, description, tags, spec, declared_set, version, at)
RETURNING key, org, id
