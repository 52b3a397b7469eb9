UPDATE runs SET token = $4::text, executor_run_id = NULL
WHERE key = $1::bigint AND attempt = $2::bigint AND fence = $3::bigint AND status = ANY ($5::text[])
