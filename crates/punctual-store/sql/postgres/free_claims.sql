-- Where nobody holds anything, nothing is looked up.
WITH lane AS (
    DELETE FROM lanes l USING unnest($1::bigint[]) AS d (run)
    WHERE l.run = d.run AND EXISTS (SELECT 1 FROM lanes)
)
DELETE FROM guards g USING unnest($1::bigint[]) AS d (run)
WHERE g.run = d.run AND EXISTS (SELECT 1 FROM guards)
