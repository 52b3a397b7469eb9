SELECT key FROM tz_versions WHERE version = $1::text
