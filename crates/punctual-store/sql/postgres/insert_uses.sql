INSERT INTO schedule_uses (org, kind, name, schedule)
SELECT d.org, d.kind, d.name, d.schedule
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[]) AS d (org, kind, name, schedule)
ON CONFLICT DO NOTHING
