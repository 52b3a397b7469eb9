-- The runs that a tick waits for: the latest at or before it of every schedule that has or had the name, unless a
-- range ends later.
SELECT d.place, t.key
FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) AS d (org, name, tick, place)
CROSS JOIN LATERAL (
    SELECT s.key FROM schedules s WHERE s.org = d.org AND s.name = d.name AND s.deleted_at IS NULL
    UNION ALL
    SELECT s.key FROM schedules s WHERE s.org = d.org AND s.name = d.name AND s.deleted_at IS NOT NULL
) s
CROSS JOIN LATERAL (
    SELECT n.key, n.scheduled_for
    FROM (
        (
            SELECT r.key, r.scheduled_for FROM runs r
            WHERE r.schedule = s.key AND r.look_at IS NULL AND r.scheduled_for <= d.tick AND r.origin = 'tick'
            ORDER BY r.scheduled_for DESC
            LIMIT 1
        )
        UNION ALL
        SELECT o.key, o.scheduled_for FROM open_runs_of(s.key) o
        WHERE o.scheduled_for <= d.tick AND o.origin = 'tick'
    ) n
    ORDER BY n.scheduled_for DESC
    LIMIT 1
) t
WHERE NOT EXISTS (
    SELECT 1 FROM run_ranges a WHERE a.schedule = s.key AND a.first <= d.tick AND a.last > t.scheduled_for
)
