UPDATE installation SET tz = (SELECT key FROM tz_versions ORDER BY version DESC LIMIT 1)
