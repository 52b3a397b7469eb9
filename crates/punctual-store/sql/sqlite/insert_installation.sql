INSERT INTO installation (one, fence, tz)
SELECT 1, 0, key FROM tz_versions WHERE version = ?1
ON CONFLICT (one) DO NOTHING
