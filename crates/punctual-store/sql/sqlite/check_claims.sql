-- Guards and lanes that are held by a run that is not in flight.
SELECT c.what, c.key, c.run
FROM (SELECT 'guards' AS what, org, key, run FROM guards UNION ALL SELECT 'lanes', org, key, run FROM lanes) AS c
LEFT JOIN runs AS r ON r.key = c.run
WHERE r.key IS NULL OR r.org <> c.org OR r.status NOT IN ('enqueued', 'running')
LIMIT ?1
