INSERT INTO schedule_state (schedule, org, shard, version, status, status_detail, left_at, planned_through,
                            decided_through, next_tick, plan_at)
SELECT d.schedule, d.org, d.shard, d.version, d.status, d.detail, d.left_at, d.planned, d.decided, d.next_tick, d.plan_at
FROM (SELECT unnest($1::bigint[]) AS schedule, unnest($2::bigint[]) AS org, unnest($3::bigint[]) AS shard,
             unnest($4::bigint[]) AS version, unnest($5::text[]) AS status, unnest($6::text[]) AS detail,
             unnest($7::bigint[]) AS left_at, unnest($8::bigint[]) AS planned, unnest($9::bigint[]) AS decided,
             unnest($10::bigint[]) AS next_tick, unnest($11::bigint[]) AS plan_at) d
