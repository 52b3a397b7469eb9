INSERT INTO orgs (id, created_at) VALUES ($1::text, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
ON CONFLICT (id) DO NOTHING
RETURNING key
