DELETE FROM outbox WHERE position <= $1::bigint
