WITH d AS MATERIALIZED (SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS t (run, schedule)),
r AS (
    UPDATE runs AS r
    SET status = 'success', started_at = $3, completed_at = $3, look_at = NULL
    FROM d
    WHERE r.key = d.run AND r.status = 'enqueued')
UPDATE schedule_state AS s
SET active_run = NULL, run_count = s.run_count + 1, success_count = s.success_count + 1, consecutive_failures = 0,
    last_finish = $3, last_status = 'success', last_success_at = $3, last_success_run = d.run
FROM d
WHERE s.schedule = d.schedule AND s.active_run = d.run
