SELECT s.schedule, s.admitted
FROM unnest($1::bigint[]) AS d (schedule)
JOIN schedule_state s ON s.schedule = d.schedule
