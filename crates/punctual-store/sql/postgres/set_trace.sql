UPDATE runs SET traceparent = $2::text WHERE key = $1::bigint
