-- The living schedules that follow one.
SELECT u.schedule, st.version
FROM schedule_uses AS u
JOIN schedule_state AS st ON st.schedule = u.schedule
WHERE u.org = ?1 AND u.kind = 'chain' AND u.name = ?2
ORDER BY u.schedule
