UPDATE runs SET look_at = $3::bigint
WHERE key = $1::bigint AND token = $2::text AND status = 'running'
