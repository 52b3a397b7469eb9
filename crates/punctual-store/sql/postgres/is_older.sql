-- Whether a newer tz database than that of a node was seen.
SELECT 1 FROM nodes n
JOIN installation i ON i.one = 1
JOIN tz_versions t ON t.key = i.tz
WHERE n.fence = $1::bigint AND n.tz_version < t.version
