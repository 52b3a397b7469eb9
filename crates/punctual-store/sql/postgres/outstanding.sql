SELECT d.schedule, o.count, o.unlaunched, o.late
FROM unnest($1::bigint[]) AS d (schedule)
CROSS JOIN LATERAL (
    SELECT count(*) AS count, count(*) FILTER (WHERE r.attempt = 0) AS unlaunched,
           array_agg(r.key) FILTER (WHERE r.fire_at <= $2::bigint AND r.status = $3::text) AS late
    FROM runs r
    WHERE r.schedule = d.schedule AND r.look_at IS NOT NULL AND r.origin = $4::text
) o
WHERE o.count > 0
