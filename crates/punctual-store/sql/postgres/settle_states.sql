UPDATE schedule_state s
SET run_count = d.runs, success_count = d.successes, failure_count = d.failures, consecutive_failures = d.in_a_row,
    active_run = CASE WHEN d.freed = 1 THEN NULL ELSE s.active_run END,
    last_finish = coalesce(d.finish, s.last_finish), last_status = coalesce(d.status, s.last_status),
    last_success_at = coalesce(d.success_at, s.last_success_at),
    last_success_run = coalesce(d.success_run, s.last_success_run),
    anchor_finish = coalesce(d.anchor, s.anchor_finish),
    plan_at = CASE WHEN d.moves = 1 AND s.left_at IS NULL AND s.spent_at IS NULL THEN $13::bigint ELSE s.plan_at END
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[],
            $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[])
    AS d (schedule, runs, successes, failures, in_a_row, freed, finish, status, success_at, success_run, moves, anchor)
WHERE s.schedule = d.schedule
