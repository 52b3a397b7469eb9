-- The ticks of each schedule that have not ended, and of them those that were never launched.
SELECT d.schedule, o.count, o.unlaunched
FROM unnest($1::bigint[]) AS d (schedule)
CROSS JOIN LATERAL (
    SELECT count(*) AS count, count(*) FILTER (WHERE r.attempt = 0) AS unlaunched
    FROM open_runs_of(d.schedule) r
    WHERE r.origin = $2::text
) o
WHERE o.count > 0
