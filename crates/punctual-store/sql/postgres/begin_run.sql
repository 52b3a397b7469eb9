UPDATE runs SET status = 'running', started_at = coalesce(started_at, $3::bigint), executor_run_id = $4::text
WHERE key = $1::bigint AND token = $2::text AND status = ANY ($5::text[])
