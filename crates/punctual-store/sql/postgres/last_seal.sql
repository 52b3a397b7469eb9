SELECT position, hash FROM audit_seals WHERE org = $1::bigint ORDER BY position DESC LIMIT 1
