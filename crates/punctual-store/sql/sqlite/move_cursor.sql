-- Moves the cursor only from where the planner read it, and only while the version is the one it read.
UPDATE schedule_state
SET planned_through = ?3, decided_through = ?4, next_tick = ?5
WHERE schedule = ?1 AND version = ?2 AND planned_through = ?6
