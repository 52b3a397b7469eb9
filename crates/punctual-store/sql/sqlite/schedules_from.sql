-- States of schedules after a key, as many as a page of them has.
SELECT schedule FROM schedule_state WHERE schedule > ?1 ORDER BY schedule LIMIT ?2
