-- Whether there are starts that are no rows of their own yet.
SELECT EXISTS (SELECT 1 FROM sheets)
