SELECT id, next_run_at FROM state
