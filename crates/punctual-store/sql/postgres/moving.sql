SELECT r.schedule, r.key, r.status, r.wait_kind, r.scheduled_for, r.attempt, r.wait_since
FROM unnest($1::bigint[]) AS d (schedule)
JOIN runs r ON r.schedule = d.schedule AND r.look_at IS NOT NULL
WHERE r.status <> $2::text
