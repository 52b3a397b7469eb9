-- One whose name or id is taken is left out.
INSERT INTO schedules (org, id, name, user_id, description, tags, spec, declared_set, version, created_at, updated_at)
SELECT d.org, d.id, d.name, d.user_id, d.description, d.tags, d.spec, d.declared_set, d.version, d.at, d.at
FROM (SELECT unnest($1::bigint[]) AS org, unnest($2::text[]) AS id, unnest($3::text[]) AS name,
             unnest($4::text[]) AS user_id, unnest($5::text[]) AS description, unnest($6::text[]) AS tags,
             unnest($7::text[]) AS spec, unnest($8::text[]) AS declared_set, unnest($9::bigint[]) AS version,
             unnest($10::bigint[]) AS at) d
ON CONFLICT DO NOTHING
RETURNING key, org, id
