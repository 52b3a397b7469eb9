-- The calendars and quiet hours of an org in their versions: another text once one of them is another.
SELECT coalesce(group_concat(d.kind || d.name || ':' || d.version || ':' || d.updated_at, ','), '')
FROM (
    SELECT 'c:' AS kind, name, version, updated_at FROM calendars WHERE org = ?1
    UNION ALL
    SELECT 'q:', name, version, updated_at FROM quiet_hours_policies WHERE org = ?1
    ORDER BY 1, 2
) AS d
