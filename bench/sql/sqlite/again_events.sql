INSERT INTO main.audit_events SELECT * FROM made.audit_events WHERE schedule BETWEEN ?1 AND ?2
