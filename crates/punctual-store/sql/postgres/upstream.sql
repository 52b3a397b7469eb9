SELECT d.place, d.id, s.name, t.scheduled_for, t.status, g.last, g.status
FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) AS d (org, id, tick, place)
JOIN schedules s ON s.org = d.org AND s.id = d.id
LEFT JOIN LATERAL (
    SELECT n.scheduled_for, n.status
    FROM (
        (
            SELECT r.scheduled_for, r.status FROM runs r
            WHERE r.schedule = s.key AND r.look_at IS NULL AND r.scheduled_for <= d.tick AND r.origin = 'tick'
            ORDER BY r.scheduled_for DESC
            LIMIT 1
        )
        UNION ALL
        SELECT o.scheduled_for, o.status FROM open_runs_of(s.key) o
        WHERE o.scheduled_for <= d.tick AND o.origin = 'tick'
    ) n
    ORDER BY n.scheduled_for DESC
    LIMIT 1
) t ON true
LEFT JOIN LATERAL (
    SELECT a.last, a.status FROM run_ranges a
    WHERE a.schedule = s.key AND a.first <= d.tick
    ORDER BY a.first DESC
    LIMIT 1
) g ON true
