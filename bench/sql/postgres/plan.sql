-- The cursor moves only from where it was read; the rows come with it.
WITH d AS MATERIALIZED (
    SELECT *
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
        AS t (schedule, org, shard, was, tick, next_tick)),
u AS (
    UPDATE schedule_state AS s
    SET planned_through = $7, decided_through = $8, next_tick = d.next_tick, plan_at = (d.next_tick - 30) * 1000000
    FROM d
    WHERE s.schedule = d.schedule AND s.version = 1 AND s.planned_through = d.was
    RETURNING s.schedule)
INSERT INTO runs (scheduled_for, org, schedule, origin, nonce, shard, fire_at, look_at, status, version, tz)
SELECT d.tick, d.org, d.schedule, 'tick', '', d.shard, d.tick * 1000000, d.tick * 1000000, 'scheduled', 1, 1
FROM d
ON CONFLICT DO NOTHING
RETURNING key, schedule, scheduled_for
