INSERT INTO schedule_state (schedule, org, shard, version, status, status_detail, left_at, planned_through,
                            decided_through, next_tick, plan_at)
SELECT d.schedule, d.org, d.shard, d.version, d.status, d.detail, d.left_at, d.planned, d.decided, d.next_tick, d.plan_at
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
            $9::bigint[], $10::bigint[], $11::bigint[])
    AS d (schedule, org, shard, version, status, detail, left_at, planned, decided, next_tick, plan_at)
