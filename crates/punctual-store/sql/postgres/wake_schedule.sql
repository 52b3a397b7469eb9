-- What waits is judged anew: the rules that made it wait have changed.
UPDATE runs r SET look_at = least(r.look_at, $2::bigint)
WHERE r.schedule = $1::bigint AND r.look_at IS NOT NULL AND r.status <> 'scheduled' AND r.status = $3::text
