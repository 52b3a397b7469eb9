SELECT l.org, l.key, l.run
FROM unnest($1::bigint[], $2::text[]) AS d (org, name)
JOIN lanes l ON l.org = d.org AND l.key = d.name
