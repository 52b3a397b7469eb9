-- Each id by itself: however many there are, the plan is that of one.
SELECT r.*
FROM unnest($1::text[]) AS d (id)
CROSS JOIN LATERAL (SELECT * FROM schedule_rows s WHERE s.id = d.id LIMIT 1) r
