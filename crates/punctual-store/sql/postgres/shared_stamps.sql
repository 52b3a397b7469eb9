-- The calendars and quiet hours of orgs in their versions: another text once one of them is another.
SELECT o.org, coalesce(md5(string_agg(d.kind || d.name || ':' || d.version || ':' || d.updated_at, ',' ORDER BY d.kind, d.name)), '')
FROM unnest($1::bigint[]) AS o (org)
LEFT JOIN LATERAL (
    SELECT 'c:' AS kind, c.name, c.version, c.updated_at FROM calendars c WHERE c.org = o.org
    UNION ALL
    SELECT 'q:', q.name, q.version, q.updated_at FROM quiet_hours_policies q WHERE q.org = o.org
) d ON true
GROUP BY o.org
