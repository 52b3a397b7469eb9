UPDATE schedule_state s
SET planned_through = d.planned, decided_through = d.decided, next_tick = d.next_tick, plan_at = d.plan_at
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
            $8::bigint[]) AS d (schedule, version, from_planned, from_decided, planned, decided, next_tick, plan_at)
WHERE s.schedule = d.schedule AND s.version = d.version AND s.planned_through = d.from_planned
  AND s.decided_through = d.from_decided AND s.status = $9::text AND s.left_at IS NULL AND s.spent_at IS NULL
RETURNING s.schedule, s.shard
