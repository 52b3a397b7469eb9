-- Every schedule with its cursor.
SELECT schedule, org, shard, planned_through, next_tick FROM schedule_state WHERE next_tick IS NOT NULL
