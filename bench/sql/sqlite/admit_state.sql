UPDATE schedule_state
SET active_run = ?2, admitted = admitted + 1, last_start = ?3, launched_through = ?4
WHERE schedule = ?1 AND active_run IS NULL
