-- At most one run holds a schedule: the claim is taken by this row or not at all.
UPDATE schedule_state SET active_run = ?2 WHERE schedule = ?1 AND active_run IS NULL
