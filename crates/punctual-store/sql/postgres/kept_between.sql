-- What stays between the ticks of each schedule that go, or between them and the range before: a digest ends there.
SELECT d.schedule, k.tick
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS d (schedule, first, last)
CROSS JOIN LATERAL (
    SELECT coalesce((SELECT max(g.last) FROM run_ranges g WHERE g.schedule = d.schedule AND g.first < d.first), 0) AS last
    OFFSET 0
) b
CROSS JOIN LATERAL (
    SELECT r.scheduled_for AS tick FROM runs r
    WHERE r.schedule = d.schedule AND r.look_at IS NULL AND r.origin = 'tick' AND r.scheduled_for BETWEEN b.last AND d.last
    UNION ALL
    SELECT o.scheduled_for FROM open_runs_of(d.schedule) o WHERE o.origin = 'tick' AND o.scheduled_for BETWEEN b.last AND d.last
    UNION ALL
    SELECT g.first FROM run_ranges g WHERE g.schedule = d.schedule AND g.first BETWEEN d.first AND d.last
) k
