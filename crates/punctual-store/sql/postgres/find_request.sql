SELECT key FROM runs WHERE schedule = $1::bigint AND origin = $2::text AND nonce = $3::text AND nonce <> '' LIMIT 1
