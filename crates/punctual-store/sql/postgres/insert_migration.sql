INSERT INTO migrations (version, name, checksum, applied_at)
VALUES ($1::bigint, $2::text, $3::text, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
