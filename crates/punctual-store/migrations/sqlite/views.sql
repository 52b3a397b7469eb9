-- What is shown of a schedule counts the tick that has ended and that its state does not count yet: see `uncounted.rs`.
SAVEPOINT arranging;
DROP VIEW schedule_rows;
CREATE VIEW schedule_rows AS
SELECT s.key, s.created_at, s.updated_at, s.deleted_at, s.declared_set, st.version, st.status, st.status_detail, st.left_at,
       st.spent_at, st.planned_through, st.decided_through, st.next_tick,
       coalesce(uncounted.scheduled_for, st.launched_through) AS launched_through,
       st.admitted + (uncounted.key IS NOT NULL) AS admitted,
       st.run_count + (uncounted.key IS NOT NULL) AS run_count,
       st.success_count + (uncounted.key IS NOT NULL) AS success_count,
       st.failure_count, st.consecutive_failures,
       coalesce(uncounted.enqueued_at, st.last_start) AS last_start,
       coalesce(uncounted.completed_at, st.last_finish) AS last_finish,
       coalesce(uncounted.status, st.last_status) AS last_status,
       coalesce(uncounted.completed_at, st.last_success_at) AS last_success_at,
       coalesce(uncounted.key, st.last_success_run) AS last_success_run,
       coalesce(uncounted.enqueued_at, st.anchor_start) AS anchor_start,
       coalesce(uncounted.completed_at, st.anchor_finish) AS anchor_finish,
       (SELECT r.scheduled_for FROM runs AS r
        WHERE r.schedule = s.key AND r.scheduled_for >= st.decided_through / 1000000 - 120 AND r.status = 'scheduled'
          AND r.reason IS NULL
        ORDER BY r.scheduled_for LIMIT 1) AS armed,
       (SELECT count(*) FROM runs AS r
        WHERE r.schedule = s.key
          AND (r.status = 'enqueued' OR r.status = 'running' OR r.status = 'waiting' OR r.status = 'retrying') AND r.origin = 'tick'
          AND r.attempt > 0) AS launched,
       s.org, s.id, s.name, s.description, s.spec, s.tags, s.user_id
FROM schedules AS s
JOIN schedule_state AS st ON st.schedule = s.key
LEFT JOIN runs AS uncounted ON uncounted.key =
  (SELECT r.key FROM runs AS r
   WHERE r.schedule = s.key AND r.scheduled_for > coalesce(st.launched_through, -9223372036854775808)
     AND r.scheduled_for <= st.planned_through / 1000000 AND r.origin = 'tick' AND r.status = 'success'
   ORDER BY r.scheduled_for LIMIT 1);
RELEASE arranging;
