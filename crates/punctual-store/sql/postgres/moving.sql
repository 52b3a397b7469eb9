-- What is armed, of which there may be much, is left out by the index. `OFFSET 0` keeps the planner from reading all of it at once
-- where it takes it for small.
SELECT d.schedule, m.key, m.status, m.wait_kind, m.scheduled_for, m.attempt, m.wait_since
FROM unnest($1::bigint[]) AS d (schedule)
CROSS JOIN LATERAL (
    SELECT r.key, r.status, r.wait_kind, r.scheduled_for, r.attempt, r.wait_since FROM runs r
    WHERE r.schedule = d.schedule AND r.look_at IS NOT NULL AND r.status <> 'scheduled'
    OFFSET 0
) m
