-- Ticks that ended have their entries, run or not: no other version has them again.
UPDATE schedule_state s SET launched_through = greatest(s.launched_through, d.tick)
FROM (SELECT schedule, max(tick) AS tick FROM unnest($1::bigint[], $2::bigint[]) AS e (schedule, tick) GROUP BY schedule) d
WHERE s.schedule = d.schedule
