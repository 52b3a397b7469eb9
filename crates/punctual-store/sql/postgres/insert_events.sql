INSERT INTO audit_events (org, at, actor, kind, schedule, run, detail)
SELECT d.org, $1::bigint, d.actor, d.kind, d.schedule, d.run, d.detail
FROM (SELECT unnest($2::bigint[]) AS org, unnest($3::text[]) AS actor, unnest($4::text[]) AS kind,
             unnest($5::bigint[]) AS schedule, unnest($6::bigint[]) AS run, unnest($7::text[]) AS detail) d
