-- Neighbours of a schedule that wants planning: those that have a tick in the window already. It ends as long after the
-- present as the next tick is twice away from when it wants planning.
SELECT schedule, org, version, planned_through, decided_through, admitted, anchor_start, anchor_finish, plan_at, NULL
FROM schedule_state
WHERE schedule >= ?4 AND schedule < ?5 AND plan_at <= ?1 + (next_tick * 1000000 - plan_at)
  AND (?2 IS NULL OR shard IN (SELECT value FROM json_each(?2)))
ORDER BY schedule
LIMIT ?3
