SELECT position, org, run, message_id, body, at
FROM outbox
WHERE position > ?2 AND (?1 IS NULL OR org = ?1)
ORDER BY position
LIMIT ?3
