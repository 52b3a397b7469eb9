SELECT EXISTS (SELECT 1 FROM schedule_uses WHERE org = ?1 AND kind = 'chain')
