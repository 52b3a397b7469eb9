UPDATE runs SET look_at = $2 WHERE key = $1 AND status = 'retrying' RETURNING org, schedule
