-- When the next armed row after the given instant is due.
SELECT min(fire_at) FROM runs WHERE status = 'scheduled' AND fire_at > ?1
