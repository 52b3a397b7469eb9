-- Who would be woken when these runs end; where nobody waits, nothing is looked up. A run that was started or ended
-- still says what it waited for, so the status tells.
SELECT w.key
FROM unnest($1::bigint[]) AS d (run)
JOIN runs y ON y.key = d.run
CROSS JOIN LATERAL (
    SELECT t.key, t.status FROM runs t
    WHERE t.org = y.org AND t.wait_kind = 'turn' AND t.wait_for = y.key::text AND t.look_at IS NOT NULL
    OFFSET 0
) w
WHERE w.status = $2::text
  AND EXISTS (SELECT 1 FROM runs o WHERE o.wait_kind IS NOT NULL AND o.look_at IS NOT NULL)
UNION
SELECT w.key
FROM (SELECT DISTINCT y.org, y.schedule FROM unnest($1::bigint[]) AS d (run) JOIN runs y ON y.key = d.run) u
JOIN schedules s ON s.key = u.schedule
CROSS JOIN LATERAL (
    SELECT t.key, t.status FROM runs t
    WHERE t.org = u.org AND t.wait_kind = 'upstream' AND t.wait_for = s.name AND t.look_at IS NOT NULL
    OFFSET 0
) w
WHERE w.status = $2::text
  AND EXISTS (SELECT 1 FROM runs o WHERE o.wait_kind IS NOT NULL AND o.look_at IS NOT NULL)
UNION
SELECT w.key
FROM (SELECT DISTINCT y.org FROM unnest($1::bigint[]) AS d (run) JOIN runs y ON y.key = d.run) u
CROSS JOIN LATERAL (
    SELECT t.key, t.status FROM runs t
    WHERE t.org = u.org AND t.wait_kind = 'limit' AND t.wait_for = 'runs_in_flight' AND t.look_at IS NOT NULL
    OFFSET 0
) w
WHERE w.status = $2::text
  AND EXISTS (SELECT 1 FROM runs o WHERE o.wait_kind IS NOT NULL AND o.look_at IS NOT NULL)
