-- None when the walk begins anew.
SELECT s.schedule FROM schedule_state s WHERE s.schedule > $1::bigint ORDER BY s.schedule OFFSET $2::bigint - 1 LIMIT 1
