SELECT position, org, run, message_id, body, at FROM outbox WHERE position > $1::bigint ORDER BY position LIMIT $2::bigint
