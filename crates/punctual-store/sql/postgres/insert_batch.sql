INSERT INTO batches (id, at, answer) VALUES ($1::text, $2::bigint, $3::text)
