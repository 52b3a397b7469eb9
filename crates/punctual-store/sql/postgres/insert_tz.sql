INSERT INTO tz_versions (version) VALUES ($1::text) ON CONFLICT (version) DO NOTHING RETURNING key
