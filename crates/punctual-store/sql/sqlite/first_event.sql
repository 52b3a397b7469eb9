SELECT min(seq) FROM audit_events WHERE org = ?1
