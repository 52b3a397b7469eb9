-- Whether a newer tz database than that of a node was seen.
SELECT 1 FROM nodes AS n
JOIN installation AS i ON i.one = 1
JOIN tz_versions AS t ON t.key = i.tz
WHERE n.fence = ?1 AND n.tz_version < t.version
