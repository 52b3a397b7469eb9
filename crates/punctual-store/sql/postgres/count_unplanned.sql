SELECT count(*) FROM schedule_state WHERE plan_at <= $1::bigint
