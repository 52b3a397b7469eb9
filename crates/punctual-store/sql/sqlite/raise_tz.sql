UPDATE installation SET tz = (SELECT key FROM tz_versions WHERE version = ?1)
