UPDATE runs r SET look_at = least(r.look_at, $2::bigint)
FROM unnest($1::bigint[]) AS d (org)
CROSS JOIN LATERAL (
    SELECT w.key FROM runs w
    WHERE w.org = d.org AND w.wait_kind = 'limit' AND w.wait_for = 'runs_in_flight' AND w.look_at IS NOT NULL
    OFFSET 0
) k
WHERE r.key = k.key AND r.look_at IS NOT NULL AND r.status = $3::text
