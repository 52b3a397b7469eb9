SELECT r.key, r.attempt, r.scheduled_for
FROM open_runs_of($1::bigint) r
WHERE r.status = ANY ($2::text[])
ORDER BY r.key
