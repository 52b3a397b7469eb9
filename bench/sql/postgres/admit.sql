WITH d AS MATERIALIZED (SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS t (run, schedule, tick)),
r AS (
    UPDATE runs AS r
    SET status = 'enqueued', attempt = 1, fence = 1, enqueued_at = $4, look_at = $5
    FROM d
    WHERE r.key = d.run AND r.status = 'scheduled')
UPDATE schedule_state AS s
SET active_run = d.run, admitted = s.admitted + 1, last_start = $4, launched_through = d.tick * 1000000
FROM d
WHERE s.schedule = d.schedule AND s.active_run IS NULL
