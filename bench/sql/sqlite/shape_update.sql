UPDATE state SET next_run_at = ?2, last_run_at = ?3 WHERE id = ?1 AND next_run_at = ?3
