SELECT seq, org, at, actor, kind, schedule, run, detail
FROM audit_events
WHERE org = ?1 AND seq > ?2
ORDER BY seq
LIMIT ?3
