-- Schedules that were made together are planned together, and what they add to an index of instants lies together: by key,
-- not by shard, which is as good as random. What is due at one instant is divided by shards, so it stays in four parts.
SAVEPOINT arranging;
DROP INDEX schedule_state_plannable;
CREATE INDEX schedule_state_plannable ON schedule_state (plan_at, schedule, shard) WHERE plan_at IS NOT NULL;
DROP INDEX runs_look;
CREATE INDEX runs_look ON runs (look_at, shard >> 6, key, shard, org) WHERE look_at IS NOT NULL;
RELEASE arranging;
