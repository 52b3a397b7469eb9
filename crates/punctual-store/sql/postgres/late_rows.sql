SELECT r.schedule, r.key, r.scheduled_for, r.fire_at, r.reason, r.detail
FROM unnest($1::bigint[]) AS d (run)
JOIN runs r ON r.key = d.run
