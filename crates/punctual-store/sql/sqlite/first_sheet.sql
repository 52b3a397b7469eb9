-- The oldest starts that are no rows of their own yet.
SELECT key, fence, at, starts
FROM sheets
ORDER BY key
LIMIT 1
