INSERT INTO requests (org, key, question, answer, at) VALUES ($1::bigint, $2::text, $3::text, $4::text, $5::bigint)
ON CONFLICT (org, key) DO NOTHING
