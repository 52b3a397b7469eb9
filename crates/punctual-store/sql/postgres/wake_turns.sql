-- From each run into the index of those that wait: `OFFSET 0` keeps the planner from reading all that wait instead. Where
-- nobody waits for a turn, nothing is looked up.
UPDATE runs r SET look_at = least(r.look_at, $3::bigint)
FROM unnest($1::bigint[], $2::text[]) AS d (org, run)
CROSS JOIN LATERAL (
    SELECT w.key FROM runs w
    WHERE w.org = d.org AND w.wait_kind = 'turn' AND w.wait_for = d.run AND w.look_at IS NOT NULL
    OFFSET 0
) k
WHERE r.key = k.key AND r.look_at IS NOT NULL AND r.status = $4::text
  AND EXISTS (
    SELECT 1 FROM runs o WHERE o.org = ANY ($1::bigint[]) AND o.wait_kind = 'turn' AND o.look_at IS NOT NULL
  )
