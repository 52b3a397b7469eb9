DELETE FROM runs r USING unnest($1::bigint[]) AS d (schedule)
WHERE r.schedule = d.schedule AND r.look_at IS NOT NULL AND r.scheduled_for > $2::bigint AND r.status = $3::text
