SELECT count(*) FROM audit_events WHERE org = ?1 AND seq > ?2
