-- Whether schedules of an org follow others, or depend on them.
SELECT EXISTS (SELECT 1 FROM schedule_uses WHERE org = ?1 AND kind = 'chain')
    OR EXISTS (SELECT 1 FROM schedule_uses WHERE org = ?1 AND kind = 'dependency')
