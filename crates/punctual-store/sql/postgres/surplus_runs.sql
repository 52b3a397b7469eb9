SELECT o.key, o.schedule, o.scheduled_for, o.org, o.version, o.status, o.origin
FROM (SELECT s.schedule FROM schedule_state s WHERE s.schedule > $1::bigint ORDER BY s.schedule LIMIT $2::bigint) d
CROSS JOIN LATERAL (
    SELECT r.scheduled_for FROM runs r
    WHERE r.schedule = d.schedule
    ORDER BY r.scheduled_for DESC
    OFFSET $3::bigint LIMIT 1
) b
CROSS JOIN LATERAL (
    SELECT r.* FROM runs r
    WHERE r.schedule = d.schedule AND r.scheduled_for <= b.scheduled_for AND r.look_at IS NULL AND r.status <> 'failed'
    LIMIT $4::bigint
) o
LIMIT $4::bigint
