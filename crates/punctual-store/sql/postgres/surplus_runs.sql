SELECT o.key, o.schedule, o.scheduled_for, o.org, o.version, o.status, o.origin
FROM (SELECT s.schedule FROM schedule_state s WHERE s.schedule > $1::bigint ORDER BY s.schedule LIMIT $2::bigint) d
CROSS JOIN LATERAL (
    SELECT n.scheduled_for
    FROM (
        (
            SELECT r.scheduled_for FROM runs r
            WHERE r.schedule = d.schedule AND r.look_at IS NULL
            ORDER BY r.scheduled_for DESC
            LIMIT $3::bigint + 1
        )
        UNION ALL
        SELECT o.scheduled_for FROM open_runs_of(d.schedule) o
    ) n
    ORDER BY n.scheduled_for DESC
    OFFSET $3::bigint LIMIT 1
) b
CROSS JOIN LATERAL (
    SELECT r.* FROM runs r
    WHERE r.schedule = d.schedule AND r.scheduled_for <= b.scheduled_for AND r.look_at IS NULL AND r.status <> 'failed'
    LIMIT $4::bigint
) o
LIMIT $4::bigint
