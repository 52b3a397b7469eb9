-- A living schedule before a deleted one, the latest deleted before earlier ones.
SELECT s.key, s.created_at, s.updated_at, s.deleted_at, s.declared_set, st.version, st.status, st.status_detail, st.left_at,
       st.spent_at, st.planned_through, st.decided_through, st.next_tick, st.launched_through, st.admitted, st.run_count,
       st.success_count, st.failure_count, st.consecutive_failures, st.last_start, st.last_finish, st.last_status,
       st.last_success_at, st.last_success_run, s.name,
       (SELECT r.scheduled_for FROM runs AS r
        WHERE r.schedule = s.key AND r.scheduled_for >= st.decided_through / 1000000 - 120 AND r.status = 'scheduled'
        ORDER BY r.scheduled_for LIMIT 1)
FROM schedules AS s
JOIN schedule_state AS st ON st.schedule = s.key
WHERE s.org IN (SELECT key FROM orgs WHERE ?1 IS NULL OR key = ?1) AND s.name = ?2
ORDER BY s.deleted_at IS NOT NULL, s.deleted_at DESC, s.key DESC
LIMIT 1
