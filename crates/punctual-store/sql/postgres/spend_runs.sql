-- From each schedule into the index of what is armed: `OFFSET 0` keeps the planner from reading all of it.
DELETE FROM runs r
USING unnest($1::bigint[]) AS d (schedule)
CROSS JOIN LATERAL (
    SELECT a.key FROM runs a
    WHERE a.schedule = d.schedule AND a.look_at IS NOT NULL AND a.status = 'scheduled' AND a.scheduled_for > $2::bigint
    OFFSET 0
) k
WHERE r.key = k.key AND r.status = $3::text
