INSERT INTO schedule_state (schedule, org, shard, version, status, status_detail, left_at, planned_through,
                            decided_through, next_tick, plan_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
