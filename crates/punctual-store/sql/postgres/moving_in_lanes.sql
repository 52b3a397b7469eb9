SELECT r.schedule, r.key, r.status, r.wait_kind, r.scheduled_for, r.attempt, r.wait_since, d.org, d.name
FROM unnest($1::bigint[], $2::text[]) AS d (org, name)
JOIN schedule_uses u ON u.org = d.org AND u.kind = 'lane' AND u.name = d.name
CROSS JOIN LATERAL (
    SELECT m.* FROM runs m
    WHERE m.schedule = u.schedule AND m.look_at IS NOT NULL AND m.status <> 'scheduled'
    OFFSET 0
) r
