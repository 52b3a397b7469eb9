SELECT g.org, g.key, g.run
FROM unnest($1::bigint[], $2::text[]) AS d (org, key)
JOIN guards g ON g.org = d.org AND g.key = d.key
