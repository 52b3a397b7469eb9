UPDATE run_ranges SET last = ?3, count = ?4, counts = ?5, recorded_at = ?6 WHERE schedule = ?1 AND first = ?2
