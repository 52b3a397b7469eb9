DELETE FROM audit_events WHERE seq <= ?1
