-- The org of a run never changes, so it is known before the run is held; where no org has limits, nothing is looked up.
WITH o AS MATERIALIZED (
    SELECT DISTINCT r.org
    FROM unnest($1::bigint[]) AS d (run)
    JOIN runs r ON r.key = d.run
    WHERE EXISTS (SELECT 1 FROM org_use)
)
SELECT u.org
FROM o
JOIN org_use u ON u.org = o.org
ORDER BY u.org
FOR UPDATE OF u
