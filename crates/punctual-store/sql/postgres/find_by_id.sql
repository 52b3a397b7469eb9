SELECT * FROM schedule_rows WHERE id = $1::text LIMIT 1
