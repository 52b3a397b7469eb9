SELECT setval(pg_get_serial_sequence($1::text, $2::text), greatest($3::bigint, 1))
