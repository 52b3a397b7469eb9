INSERT INTO again.audit_events SELECT * FROM audit_events WHERE schedule BETWEEN $1 AND $2
