-- What is armed, of which there may be much, is left out by the index: what comes before it, and what after.
SELECT d.schedule, m.key, m.status, m.wait_kind, m.scheduled_for, m.attempt, m.wait_since
FROM unnest($1::bigint[]) AS d (schedule)
CROSS JOIN LATERAL (
    SELECT r.key, r.status, r.wait_kind, r.scheduled_for, r.attempt, r.wait_since FROM runs r
    WHERE r.schedule = d.schedule AND r.look_at IS NOT NULL AND r.status < $2::text
    UNION ALL
    SELECT r.key, r.status, r.wait_kind, r.scheduled_for, r.attempt, r.wait_since FROM runs r
    WHERE r.schedule = d.schedule AND r.look_at IS NOT NULL AND r.status > $2::text
) m
