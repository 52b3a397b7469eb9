-- The schedules of an org by name, after the last one of the page before.
SELECT s.key, s.created_at, s.updated_at, s.deleted_at, s.declared_set, st.version, st.status, st.status_detail, st.left_at,
       st.spent_at, st.planned_through, st.decided_through, st.next_tick, st.launched_through, st.admitted, st.run_count,
       st.success_count, st.failure_count, st.consecutive_failures, st.last_start, st.last_finish, st.last_status,
       st.last_success_at, st.last_success_run, s.name,
       (SELECT r.scheduled_for FROM runs AS r
        WHERE r.schedule = s.key AND r.scheduled_for >= st.decided_through / 1000000 - 120 AND r.status = 'scheduled'
        ORDER BY r.scheduled_for LIMIT 1)
FROM schedules AS s
JOIN schedule_state AS st ON st.schedule = s.key
WHERE s.org = ?1 AND s.name >= ?2 AND (s.name > ?2 OR s.key > ?3)
  AND (?4 IS NULL OR instr(lower(s.name), lower(?4)) OR instr(lower(coalesce(s.description, '')), lower(?4))
       OR instr(lower(s.spec), lower(?4)))
  AND (?5 IS NULL OR EXISTS (SELECT 1 FROM json_each(s.tags) WHERE value = ?5))
  AND (?6 IS NULL OR st.status = ?6)
  AND (?7 IS NULL OR s.user_id = ?7)
  AND (?8 IS NULL OR s.declared_set = ?8)
  AND (?9 OR s.deleted_at IS NULL)
ORDER BY s.name, s.key
LIMIT ?10
