INSERT INTO tz_versions (version) VALUES (?1) ON CONFLICT (version) DO NOTHING
