-- When the first of all open rows wants to be looked at, from the index alone.
SELECT look_at FROM runs WHERE look_at IS NOT NULL ORDER BY look_at LIMIT 1
