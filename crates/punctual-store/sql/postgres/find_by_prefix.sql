SELECT * FROM schedule_rows WHERE id LIKE $1::text LIMIT 2
