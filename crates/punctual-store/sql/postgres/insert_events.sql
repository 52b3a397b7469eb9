INSERT INTO audit_events (org, at, actor, kind, schedule, run, detail)
SELECT d.org, $1::bigint, d.actor, d.kind, d.schedule, d.run, d.detail
FROM unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
    AS d (org, actor, kind, schedule, run, detail)
