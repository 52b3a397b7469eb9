-- Schedules that have rows, after one of them: from each into the index to the next, so that those without any cost nothing.
WITH RECURSIVE having_rows (schedule) AS (
    SELECT min(schedule) FROM runs WHERE schedule > ?1
    UNION ALL
    SELECT (SELECT min(r.schedule) FROM runs AS r WHERE r.schedule > h.schedule)
    FROM having_rows AS h
    WHERE h.schedule IS NOT NULL
)
SELECT schedule FROM having_rows WHERE schedule IS NOT NULL LIMIT ?2
