-- Rows that want to be looked at, oldest first, with how their schedules stand. What is due at this very instant is found
-- by its shard as well: of a herd that is read in parts each row is touched once.
SELECT r.key, r.schedule, r.org, r.status, r.origin, r.nonce, r.scheduled_for, r.fire_at, r.attempt, r.version,
       r.is_forced, r.reason, r.detail, r.wait_kind, r.wait_for, r.wait_since, r.wait_until, r.fence,
       st.version, st.admitted, r.look_at, r.traceparent
FROM (
    SELECT key, look_at FROM runs
    WHERE look_at < ?1 AND (?2 IS NULL OR shard IN (SELECT value FROM json_each(?2)))
    UNION ALL
    SELECT key, look_at FROM runs
    WHERE look_at = ?1 AND shard >> 6 >= ?4 >> 6 AND shard >> 6 <= ?5 >> 6 AND shard >= ?4 AND shard <= ?5
      AND (?2 IS NULL OR shard IN (SELECT value FROM json_each(?2)))
    ORDER BY look_at
    LIMIT ?3
) AS d
CROSS JOIN runs AS r ON r.key = d.key
CROSS JOIN schedule_state AS st ON st.schedule = r.schedule
