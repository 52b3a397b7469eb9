DELETE FROM tz_versions WHERE key = ?1 OR version = ?2
