-- Where nobody waits for another schedule, no name is looked up.
UPDATE runs r SET look_at = least(r.look_at, $3::bigint)
FROM unnest($1::bigint[], $2::bigint[]) AS d (org, schedule)
JOIN schedules s ON s.key = d.schedule
CROSS JOIN LATERAL (
    SELECT w.key FROM runs w
    WHERE w.org = d.org AND w.wait_kind = 'upstream' AND w.wait_for = s.name AND w.look_at IS NOT NULL
    OFFSET 0
) k
WHERE r.key = k.key AND r.look_at IS NOT NULL AND r.status = $4::text
  AND EXISTS (
    SELECT 1 FROM runs o WHERE o.org = ANY ($1::bigint[]) AND o.wait_kind = 'upstream' AND o.look_at IS NOT NULL
  )
