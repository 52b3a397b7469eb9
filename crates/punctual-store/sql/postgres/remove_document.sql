DELETE FROM {table} WHERE org = $1::bigint AND name = $2::text
