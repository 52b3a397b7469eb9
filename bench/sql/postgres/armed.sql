-- Rows of the first windows.
SELECT key, schedule, scheduled_for FROM runs WHERE look_at IS NOT NULL
