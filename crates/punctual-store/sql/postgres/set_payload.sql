UPDATE runs SET payload = $2::text WHERE key = $1::bigint
