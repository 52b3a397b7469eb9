-- Whether there are not several orgs with schedules. The installation's own has none.
SELECT count(*) <= 1 FROM (SELECT 1 FROM orgs WHERE id <> 'punctual:installation' LIMIT 2)
