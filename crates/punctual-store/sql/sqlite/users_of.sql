SELECT schedule FROM schedule_uses
WHERE org IN (SELECT key FROM orgs WHERE ?1 IS NULL OR key = ?1) AND kind = ?2 AND name = ?3
ORDER BY schedule
