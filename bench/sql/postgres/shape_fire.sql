WITH d AS MATERIALIZED (
    SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[]) AS t (idem, sid, planned, nxt)),
i AS (
    INSERT INTO runs (idem, schedule_id, planned_at, status, payload, created_at)
    SELECT idem, sid, planned, 0, $5::text, planned FROM d
    ON CONFLICT (idem) DO NOTHING)
UPDATE state AS s SET next_run_at = d.nxt, last_run_at = d.planned
FROM d
WHERE s.id = d.sid AND s.next_run_at = d.planned
