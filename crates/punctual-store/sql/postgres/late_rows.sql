-- `OFFSET 0` keeps the planner from reading all that is armed instead.
SELECT l.schedule, l.key, l.scheduled_for, l.fire_at, l.reason, l.detail
FROM unnest($1::bigint[]) AS d (schedule)
CROSS JOIN LATERAL (
    SELECT r.schedule, r.key, r.scheduled_for, r.fire_at, r.reason, r.detail FROM runs r
    WHERE r.schedule = d.schedule AND r.look_at IS NOT NULL AND r.status = 'scheduled' AND r.fire_at <= $2::bigint
      AND r.origin = $3::text
    OFFSET 0
) l
