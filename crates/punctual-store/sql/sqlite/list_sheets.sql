-- All starts that are no rows of their own yet, oldest first.
SELECT key, fence, at, starts
FROM sheets
ORDER BY key
