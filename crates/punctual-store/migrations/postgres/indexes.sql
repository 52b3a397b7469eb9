-- What of a schedule is in flight, waits or is to be repeated is little, and found without a look at all that is armed: who
-- starts a run writes into an index that is small, and who asks what moves reads it. What is armed has an index of its own, into
-- which nothing is written but when it is planned. What has ended has the largest, into which a run is written once.
DROP INDEX runs_open;
CREATE INDEX runs_open ON runs (schedule, status) WHERE look_at IS NOT NULL AND status <> 'scheduled';
CREATE INDEX runs_armed ON runs (schedule, fire_at) WHERE look_at IS NOT NULL AND status = 'scheduled';
DROP INDEX runs_history;
CREATE INDEX runs_history ON runs (schedule, scheduled_for) WHERE look_at IS NULL;

-- What of a schedule has not ended: it lies in two indexes. `OFFSET 0` keeps the planner from going through another because of
-- what else is asked.
CREATE FUNCTION open_runs_of(bigint) RETURNS SETOF runs LANGUAGE sql STABLE AS $$
    SELECT * FROM (
        SELECT * FROM runs WHERE schedule = $1 AND look_at IS NOT NULL AND status = 'scheduled'
        UNION ALL
        SELECT * FROM runs WHERE schedule = $1 AND look_at IS NOT NULL AND status <> 'scheduled'
    ) open
    OFFSET 0
$$;

-- As it is asked for: by the one or the other.
CREATE OR REPLACE VIEW schedule_rows WITH (security_invoker = true) AS
SELECT d.key, d.org, v.definition, d.declared_set, d.created_at, d.updated_at, d.deleted_at, s.status, s.status_detail,
       s.left_at, s.spent_at, s.planned_through, s.decided_through, s.next_tick, s.launched_through, s.admitted,
       s.run_count, s.success_count, s.failure_count, s.consecutive_failures, s.last_start, s.last_finish, s.last_status,
       s.last_success_at, s.last_success_run,
       (SELECT min(r.scheduled_for) FROM runs r
        WHERE r.schedule = d.key AND r.look_at IS NOT NULL AND r.status = 'scheduled' AND r.reason IS NULL) AS armed,
       d.version, s.anchor_start, s.anchor_finish,
       (SELECT count(*) FROM runs r
        WHERE r.schedule = d.key AND r.look_at IS NOT NULL AND r.status <> 'scheduled' AND r.origin = 'tick'
          AND r.attempt > 0) AS launched,
       d.id, d.name, d.description, d.spec, d.tags, d.user_id
FROM schedules d
JOIN schedule_state s ON s.schedule = d.key
JOIN schedule_versions v ON v.schedule = d.key AND v.version = d.version;
