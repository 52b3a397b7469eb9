SELECT d.key, d.org, d.definition, d.declared_set, d.created_at, d.updated_at, d.deleted_at, s.status, s.status_detail,
       s.left_at, s.spent_at, s.planned_through, s.decided_through, s.next_tick, s.launched_through, s.admitted,
       s.run_count, s.success_count, s.failure_count, s.consecutive_failures, s.last_start, s.last_finish, s.last_status,
       s.last_success_at, s.last_success_run,
       (SELECT min(r.scheduled_for) FROM runs r
        WHERE r.schedule = d.key AND r.look_at IS NOT NULL AND r.status = 'scheduled' AND r.reason IS NULL),
       d.version
FROM schedules d
JOIN schedule_state s ON s.schedule = d.key
WHERE d.key = coalesce(
    (SELECT l.key FROM schedules l WHERE l.name = $1::text AND l.deleted_at IS NULL LIMIT 1),
    (SELECT h.key FROM schedules h WHERE h.name = $1::text AND h.deleted_at IS NOT NULL ORDER BY h.deleted_at DESC LIMIT 1)
)
