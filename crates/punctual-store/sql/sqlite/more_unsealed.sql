-- How many events wait for their seal, as far as anybody cares: after a bulk there are very many, and this is asked at each step.
SELECT count(*) FROM (SELECT 1 FROM audit_events WHERE org = ?1 AND seq > ?2 LIMIT 10000)
