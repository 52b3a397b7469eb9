UPDATE installation i SET tz = new.key
FROM tz_versions new, tz_versions old
WHERE i.one = 1 AND new.version = $1::text AND old.key = i.tz AND new.version > old.version
