-- An armed row that was slept through fires later than it was planned to.
UPDATE runs SET fire_at = ?2, look_at = ?2 WHERE key = ?1 AND status = 'scheduled'
